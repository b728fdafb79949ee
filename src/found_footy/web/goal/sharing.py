"""What other sites show of a shared link: Open Graph and card tags. Pure."""

from __future__ import annotations

from found_footy.web.answers.rendering import text
from found_footy.web.goal.view import GoalPage

POSTER_WIDTH = 1280
LONGEST_TITLE = 140

Tags = tuple[tuple[str, str], ...]
"""Properties and their contents; names that begin with `twitter:` are names, all others properties."""


def goal_title(page: GoalPage) -> str:
    """`Mohamed Salah 23' · Liverpool 1–0 Manchester City`"""
    home, away = page.after
    scorer = text(page.player or page.noun.capitalize(), 50)
    if page.wicket is not None:
        return text(f"{scorer} {page.minute} · {text(page.home, 40)} – {text(page.away, 40)}", LONGEST_TITLE)
    return text(f"{scorer} {page.minute} · {text(page.home, 40)} {home}–{away} {text(page.away, 40)}", LONGEST_TITLE)


def match_title(page: GoalPage) -> str:
    """The same without anything that tells a result."""
    return text(f"A {page.noun} in {text(page.home, 40)} – {text(page.away, 40)}", LONGEST_TITLE)


def goal_tags(page: GoalPage, base: str) -> Tags:
    """`base` is our own address, without a slash at its end."""
    tags = [*_common(page, base, goal_title(page), _description(page))]
    if page.best is None:
        return (*tags, ("twitter:card", "summary"))
    best, video = page.best, f"{base}/v/{page.best.id}"
    width = min(POSTER_WIDTH, best.width)
    tags += [
        ("og:image", f"{video}/poster.jpg?w={POSTER_WIDTH}"),
        ("og:image:type", "image/jpeg"),
        ("og:image:width", str(width)),
        ("og:image:height", str(round(width * best.height / max(1, best.width)))),
        ("og:image:alt", goal_title(page)),
        ("og:video", video),
        ("og:video:type", "video/mp4"),
        ("og:video:width", str(best.width)),
        ("og:video:height", str(best.height)),
        ("twitter:card", "summary_large_image"),
        ("twitter:image", f"{video}/poster.jpg?w={POSTER_WIDTH}"),
    ]
    return tuple(tags)


def hidden_tags(page: GoalPage, base: str) -> Tags:
    """For a reader who hides scores: a picture could tell, too."""
    tags = _common(page, base, match_title(page), f"{text(page.league, 60)}, {page.kickoff:%d %b %Y}")
    return (*tags, ("twitter:card", "summary"))


def _common(page: GoalPage, base: str, title: str, description: str) -> Tags:
    return (
        ("og:site_name", "Found Footy"),
        ("og:type", "website"),
        ("og:url", f"{base}/g/{page.id}"),
        ("og:title", title),
        ("og:description", description),
    )


def _description(page: GoalPage) -> str:
    verified = sum(copy.verified for copy in page.copies)
    clips = "1 clip" if len(page.copies) == 1 else f"{len(page.copies)} clips"
    proved = f", {verified} verified by the match clock" if verified else ""
    found = f"{clips}{proved} · " if page.copies else ""
    return f"{found}{text(page.league, 60)}, {page.kickoff:%d %b %Y}"
