"""Which of Apprise's services may be used. Standard library only: Apprise's own process needs it, too.

Services that bring a message to people. Not among them: those that ask any web server (what webhooks are for), those of
this machine (its desktop, its log), and message queues.
"""

from __future__ import annotations

SCHEMAS = frozenset(
    {
        *("bark", "barks", "bluesky", "bsky", "chanify", "dingtalk", "discord", "feishu", "flock", "gchat"),
        *("gotify", "gotifys", "guilded", "join", "kook", "lark", "line", "mailgun", "mailto", "mailtos"),
        *("mastodon", "mastodons", "matrix", "matrixs", "mmost", "mmosts", "nctalk", "nctalks", "ntfy", "ntfys"),
        *("pbul", "pover", "prowl", "pushdeer", "pushdeers", "pushy", "revolt", "rocket", "rockets", "ryver"),
        *("sendgrid", "ses", "signal", "signals", "simplepush", "slack", "smtp2go", "sparkpost", "spike"),
        *("synology", "synologys", "tgram", "threema", "toot", "toots", "twilio", "twist", "viber", "vonage"),
        *("webex", "wecombot", "whatsapp", "workflow", "workflows", "wxteams", "zulip"),
    }
)

NATIVE = frozenset({"http", "https"})
"""Addresses as a service's own pages show them; taken where Apprise knows whose they are."""

PORTS = frozenset({25, 80, 443, 465, 587, 2525, 8008, 8080, 8443, 8448})
"""The web's, mail's and Matrix's."""
