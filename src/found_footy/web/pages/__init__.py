"""The HTML pages."""

from found_footy.web.pages import feeds as feeds
from found_footy.web.pages import follow as follow
from found_footy.web.pages import goal as goal
from found_footy.web.pages import library as library
from found_footy.web.pages import matchday as matchday
from found_footy.web.pages import operations as operations
from found_footy.web.pages import review as review
from found_footy.web.pages import search as search
from found_footy.web.pages import subscriptions as subscriptions
