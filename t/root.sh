# A Debian in a folder of its own, for t/fresh and t/arch, which source this. All mounts are in a mount
# namespace of its own, so that none can be left. Set: tree (the source tree), self (the script's name).
# shellcheck shell=sh

self=t/${0##*/}
# shellcheck disable=SC2034
tree=$(CDPATH='' cd -- "${0%/*}/.." && pwd) || exit 2
PATH=$PATH:/usr/sbin:/sbin

cannot() {
	echo "$self: cannot be tried here: $*" >&2
	exit 77
}

# A device that can be opened, in a root that can be entered, with mounts that nobody else sees.
# shellcheck disable=SC2016
try='mount -t tmpfs t "$1" && mknod "$1/null" c 1 3 && : >"$1/null" && chroot / true &&
	mkdir "$1/p" && mount --rbind /proc "$1/p"'

# own_namespace ARG...: runs the script again with these arguments in a mount namespace, where this
# does nothing. There $ROOT_WORK is a folder to work in, removed at the end.
own_namespace() {
	[ -z "${ROOT_WORK:-}" ] || return 0
	[ "$(id -u)" = 0 ] || cannot 'this is not root'
	command -v debootstrap >/dev/null || cannot 'debootstrap is not installed'
	work=$(mktemp -d "${TMPDIR:-/var/tmp}/perfpipe-${self#t/}.XXXXXX") || exit 2
	trap 'rm -rf --one-file-system -- "$work"' EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	unshare --mount --propagation private sh -c "$try" sh "$work" 2>"$work.err" || {
		why=$(tail -n 1 "$work.err")
		rm -f "$work.err"
		cannot "no mounts and devices: $why"
	}
	rm -f "$work.err"
	ROOT_WORK=$work unshare --mount --propagation private "$0" "$@"
	exit
}

step() { # NAME COMMAND...: what is done, and how long it took
	doing=$1
	shift
	echo "$self: $doing"
	began=$(date +%s)
	"$@" </dev/null
	rc=$?
	echo "$self: $doing: exit status $rc after $(($(date +%s) - began)) s"
	return $rc
}

# debian SUITE PACKAGES DIR: a minimal one. MIRROR names the mirror.
debian() {
	apt_proxy=$(apt-config dump --format '%v%n' Acquire::http::Proxy 2>/dev/null)
	[ -z "$apt_proxy" ] || export http_proxy="${http_proxy:-$apt_proxy}"
	debootstrap --variant=minbase --include="$2" "$1" "$3" \
		"${MIRROR:-http://deb.debian.org/debian}" >"$ROOT_WORK/log" 2>&1 && return
	tail -n 20 "$ROOT_WORK/log"
	return 2
}

# mounts DIR: what a machine has besides its files, the way to the network, too.
mounts() {
	for dir in proc sys dev; do
		mkdir -p "$1/$dir"
		mount --rbind "/$dir" "$1/$dir" || return 2
	done
	cp -L /etc/resolv.conf "$1/etc/resolv.conf" 2>/dev/null || :
}

# inside DIR [NAME=VALUE...] COMMAND...: in /perfpipe there, with nothing of this machine's environment
# but the way to the network.
inside() {
	inside_root=$1
	shift
	# shellcheck disable=SC2016
	chroot "$inside_root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} \
		sh -c 'cd /perfpipe && exec env "$@"' sh "$@"
}
