"""Finding the video on a goal host's page."""

from __future__ import annotations

import pytest
from tests.support.recorded import recorded

from found_footy.adapters.download.goal_page import MOST_LINKS, video_links


@pytest.mark.parametrize(
    ("page", "links"),
    [
        ('<video src="/a.mp4">', ["/a.mp4"]),
        ("<VIDEO SRC=/a.mp4 controls></VIDEO>", ["/a.mp4"]),
        ('<video poster=p><source src="a.webm"><source src="b.mp4"></video>', ["a.webm", "b.mp4"]),
        ('<picture><source srcset=x src="a.jpg"></picture>', []),
        ('<meta property="og:video" content="https://h/v.mp4?a=1&amp;b=2">', ["https://h/v.mp4?a=1&b=2"]),
        ('<meta content="https://h/v.mp4" name="twitter:player:stream">', ["https://h/v.mp4"]),
        (
            '<meta property="og:video" content="/1"><meta property="og:video:secure_url" content="/2"><video src=/3>',
            ["/3", "/2", "/1"],
        ),
        ('<meta property="og:video" content="/same.mp4"><video src="/same.mp4">', ["/same.mp4"]),
        ('<video src="blob:https://h/1"><video src="data:video/mp4;base64,AA">', []),
        ('<video src="https://h/list.m3u8?x=.mp4"><video src="https://h/dash.mpd">', []),
        ("<video><video src=''><video src>", []),
        ('<script>"<video src=/no.mp4>"</script><!-- <video src=/no.mp4> -->', []),
        ('<![weird[ stuff]]><video src="/a.mp4">', ["/a.mp4"]),
        ('<video src="/a.mp4"', []),
        ("", []),
        ("no page at all", []),
        ("".join(f"<video src=/{n}.mp4>" for n in range(50)), [f"/{n}.mp4" for n in range(MOST_LINKS)]),
    ],
)
def test_links_of_a_page(page: str, links: list[str]) -> None:
    assert video_links(page) == links


@pytest.mark.parametrize(
    "piece",
    [
        "<",
        "<!--",
        "<a ",
        "<a x='",
        "<!",
        "<?",
        "</",
        "</a ",
        "<script>",
        "&",
        "<![CDATA[",
        "<a/",
        " x=",
        "<video src=x ",
    ],
)
def test_a_page_that_is_made_to_be_slow_ends(piece: str) -> None:
    page = "<a " * (piece == " x=") + piece * (100_000 // len(piece))
    assert video_links(page + "<video src=/late.mp4>") in ([], ["/late.mp4"], ["x"])


def test_the_page_of_dubz_is_understood() -> None:
    page = recorded("social", "goal-host-dubz.html").read_text(encoding="utf-8")
    assert video_links(page) == ["https://dubzalt.com/storage/videos/3ea24e.mp4"]


def test_the_page_of_streamin_is_understood() -> None:
    page = recorded("social", "goal-host-streamin.html").read_text(encoding="utf-8")
    (link,) = video_links(page)
    assert link.startswith("https://downloader.disk.yandex.ru/disk/")
    assert "&filename=3727f22e.mp4&" in link
