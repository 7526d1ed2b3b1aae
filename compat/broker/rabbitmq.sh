# Runs as the first process of an instance's own mount and process namespaces: TREE STATE.
# What it mounts is gone with the namespace.
set -eu
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
mount --bind "$2" "$1/var/lib/rabbitmq"
exec chroot "$1" /usr/lib/rabbitmq/bin/rabbitmq-server
