#!/bin/sh
# Runs a command with a display, and shows that display in a page on port 6080 to whoever knows VNC_PASSWORD.
set -eu
: "${VNC_PASSWORD:?set it in deploy/.env}"
umask 077
Xvfb :99 -screen 0 1280x900x24 -nolisten tcp &
export DISPLAY=:99
x11vnc -storepasswd "$VNC_PASSWORD" /tmp/vnc.passwd
attempts=50
until x11vnc -display :99 -rfbauth /tmp/vnc.passwd -localhost -forever -shared -noshm -quiet -bg; do
    attempts=$((attempts - 1))
    [ "$attempts" -gt 0 ] || exit 1
    sleep 0.2
done
websockify --web /usr/share/novnc 6080 127.0.0.1:5900 &
exec "$@"
