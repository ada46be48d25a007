#!/bin/sh
# Plays what is new in the league beside this script. For cron, which mails all output: it prints the
# changes if there are any, and what went wrong if the season was not played to its end.
#
#     MAILTO=organiser@example.org
#     15 3 * * *  /bin/sh /srv/league/nightly.sh
#
# cron knows neither your PATH nor your shell's settings, so the program has its whole path here.
tourney=${TOURNEY:-/srv/league/.venv/bin/tourney}

cd "$(dirname "$0")" || exit 1
if news=$("$tourney" season . 2> season.log); then
    case $news in
        *": nothing new") ;;
        *) printf '%s\n' "$news" ;;
    esac
else
    status=$?
    printf 'tourney season failed with status %s:\n' "$status"
    tail -n 40 season.log
    exit "$status"
fi
