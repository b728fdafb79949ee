#!/bin/sh
# Creates Temporal's two databases and brings their schemas to the version of this image. Idempotent.
set -eu
for name in temporal visibility; do
    database=temporal
    [ "$name" = temporal ] || database=temporal_visibility
    temporal-sql-tool --db "$database" create
    temporal-sql-tool --db "$database" setup-schema -v 0.0
    temporal-sql-tool --db "$database" update-schema -d "/etc/temporal/schema/postgresql/v12/$name/versioned"
done
