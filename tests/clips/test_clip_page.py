"""Finding a page's own video, and none of the others on it."""

from __future__ import annotations

import pytest

from found_footy.clips.video_links import MAX_LINKS, data_links, find_own_videos, parse_page
from tests.support.recorded import recorded

URL = "https://host.example/v/clip42x"


@pytest.mark.parametrize(
    ("page", "links"),
    [
        ('<video src="/a.mp4">', ["/a.mp4"]),
        ("<VIDEO SRC=/a.mp4#t=0.1 controls></VIDEO>", ["/a.mp4"]),
        ('<video poster=p><source src="a.webm"><source src="b.mp4"></video>', ["a.webm", "b.mp4"]),
        ('<picture><source srcset=x src="a.jpg"></picture>', []),
        ('<meta property="og:video" content="https://h/v.mp4?a=1&amp;b=2">', ["https://h/v.mp4?a=1&b=2"]),
        ('<meta content="https://h/v.mp4" name="twitter:player:stream">', ["https://h/v.mp4"]),
        (
            '<meta property="og:video" content="/1"><meta property="og:video:secure_url" content="/2"><video src=/3>',
            ["/3", "/2", "/1"],
        ),
        ('<meta property="og:video" content="/own.mp4"><video src="/ad.mp4">', ["/own.mp4", "/ad.mp4"]),
        ('<meta property="og:video" content="/same.mp4"><video src="/same.mp4">', ["/same.mp4"]),
        ('<script type="application/ld+json">{"@type":"VideoObject","contentUrl":"/j.mp4"}</script>', ["/j.mp4"]),
        (
            '<script type="application/ld+json">{"@graph":[{"@type":"VideoObject","contentUrl":"/j.mp4"}]}</script>',
            ["/j.mp4"],
        ),
        ('<script type="application/ld+json">{broken</script><video src="/a.mp4">', ["/a.mp4"]),
        ('<video src="blob:https://h/1"><video src="data:video/mp4;base64,AA">', []),
        ('<video src="https://h/list.m3u8?x=1">', ["https://h/list.m3u8?x=1"]),
        ("<video><video src=''><video src>", []),
        ('<script>"<video src=/no.mp4>"</script><!-- <video src=/no.mp4> -->', []),
        ('<![weird[ stuff]]><video src="/a.mp4">', ["/a.mp4"]),
        ('<video src="/a.mp4"', []),
        ("", []),
        ("no page at all", []),
        ("<video>" + "".join(f"<source src=/{n}.mp4>" for n in range(50)), [f"/{n}.mp4" for n in range(MAX_LINKS)]),
    ],
)
def test_the_video_of_a_page(page: str, links: list[str]) -> None:
    assert find_own_videos(parse_page(page), URL).links == links


@pytest.mark.parametrize(
    ("page", "links"),
    [
        ("<video src=/1.mp4></video><video src=/2.mp4></video>", []),
        ("<video src=/1.mp4></video><video src=/files/clip42x.mp4></video>", ["/files/clip42x.mp4"]),
        ("<video src=/clip42x-a.mp4></video><video src=/clip42x-b.mp4></video>", []),
        ('<meta property="og:video" content="/2.mp4"><video src=/1.mp4></video><video src=/2.mp4></video>', ["/2.mp4"]),
        (f'<meta property="og:video" content="{URL}"><video src=/1.mp4></video><video src=/2.mp4></video>', []),
        (
            '<script type="application/ld+json">[{"@type":"VideoObject","contentUrl":"/j.mp4"},'
            '{"@type":"VideoObject","contentUrl":"/k.mp4"}]</script>'
            "<video src=/1.mp4></video><video src=/2.mp4></video>",
            [],
        ),
    ],
)
def test_only_the_pages_own_video_is_used(page: str, links: list[str]) -> None:
    own = find_own_videos(parse_page(page), URL)
    assert own.links == links
    assert own.ambiguous is (not links)


def test_a_page_that_names_itself_as_its_video_names_none() -> None:
    page = f'<link rel="canonical" href="{URL}/"><meta property="og:video" content="{URL}?autoplay=1">'
    assert find_own_videos(parse_page(page), "https://other.example/short").links == []


def test_the_text_outside_of_scripts_is_kept() -> None:
    page = parse_page("<title>Oops</title><script>var x = 'no'</script><style>p {}</style><p>Video\n removed</p>")
    assert page.text.split() == ["Oops", "Video", "removed"]


def test_a_data_link_counts_where_it_is_the_only_one() -> None:
    assert data_links(parse_page('<video data-link="/a.mp4"></video>')) == ["/a.mp4"]
    assert data_links(parse_page('<video data-link="/a.mp4"></video><video data-link="/b.mp4">')) == []


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
    assert find_own_videos(parse_page(page + "<video src=/late.mp4>"), URL).links in ([], ["/late.mp4"], ["x"])


def test_the_recorded_page_of_dubz() -> None:
    page = recorded("social", "goal-host-dubz.html").read_text(encoding="utf-8")
    assert find_own_videos(parse_page(page), "https://dubz.link/c/3ea24e").links == [
        "https://dubzalt.com/storage/videos/3ea24e.mp4"
    ]


def test_the_recorded_page_of_streamin() -> None:
    page = recorded("social", "goal-host-streamin.html").read_text(encoding="utf-8")
    (link,) = find_own_videos(parse_page(page), "https://streamin.me/v/3727f22e").links
    assert link.startswith("https://downloader.disk.yandex.ru/disk/")
    assert "&filename=3727f22e.mp4&" in link
