"""The clips of a scripted matchday: broadcast-like video, the copies that people post of it, and what each one shows.

`plan.clips_for` says which copies of a goal exist, `rendering.render` makes the file, `truth.truth_of` tells what is in
it. Nothing is imported here: reading a scenario needs the words in `kinds`, and neither OpenCV nor PyAV.
"""
