# shellcheck shell=bash
# Fetches the JDK and the Maven that Doorbell is built with, once, where a machine has none. The launcher reads this file
# when it needs it. Archives are pinned by their SHA-256 and unpacked into $XDG_CACHE_HOME/doorbell or ~/.cache/doorbell.
#
# DOORBELL_FETCH     yes fetches without asking, as '--yes' does; no never fetches. Without it a terminal is asked.
# DOORBELL_JDK_URL   this JDK instead of any other: an address of a .tar.gz, such a file, or the folder of a JDK
# DOORBELL_JDK_SHA256  SHA-256 that the archive at DOORBELL_JDK_URL must have
# DOORBELL_MAVEN_URL  the same archive of Maven at another address, or as a file; its SHA-256 is checked all the same
# DOORBELL_FETCH_SECONDS  when a download is given up (1800)
#
# Proxies are those of curl: https_proxy, http_proxy, no_proxy.

readonly JDK_RELEASE=25.0.4.1+1 MAVEN_RELEASE=3.9.11
readonly MAVEN_SHA256=4b7195b6a4f5c81af4c0212677a32ee8143643401bc6e1e8412e6b06ea82beac

# Eclipse Temurin for this platform as "NAME SHA-256", from the release's own list of sums.
pinned_jdk() {
  case $(uname -s)-$(uname -m) in
    Linux-x86_64) echo x64_linux dbb698396d478e7fa2b1e50f4103324b2a99b90569ee27c33f2261f9215cf41e ;;
    Linux-aarch64) echo aarch64_linux 69df11a02cfa3ef7d7ca645e03edce6778ec090e100f6ae2b42097865730ac52 ;;
    Darwin-x86_64) echo x64_mac e6229d9504f7922053ab31821b9e6bee8761daf7b026a3476d1a027563009880 ;;
    Darwin-arm64) echo aarch64_mac 61979887f7506a24a57439ff99adb8b3a7fc89977d9cfe3b8984f58a981b7b9d ;;
  esac
}

# permitted WHAT WHY: ends unless the user lets it be fetched.
permitted() {
  local answer hint="run '$program --yes ...' or set DOORBELL_FETCH=yes and it fetches $1 into $fetched"
  case ${DOORBELL_FETCH:-ask} in
    yes) return 0 ;;
    no) fail "$2; DOORBELL_FETCH=no forbids to fetch $1" ;;
  esac
  [[ -t 0 && -t 2 && -z ${CI:-} ]] || fail "$2; $hint"
  printf '%s.\nFetch %s into %s? [Y/n] ' "$2" "$1" "$fetched" >&2
  read -r -t 300 answer || { echo >&2; fail "no answer; $hint"; }
  [[ -z $answer || $answer == [yY]* ]] || fail "$2; install one or set JAVA_HOME"
  DOORBELL_FETCH=yes
}

sha256_of() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

# download ADDRESS FILE
download() {
  local seconds=${DOORBELL_FETCH_SECONDS:-1800} shown=-sS
  [[ ! -t 2 ]] || shown=-#
  if command -v curl >/dev/null; then
    curl -fL "$shown" --connect-timeout 30 --max-time "$seconds" -o "$2" "$1"
  elif command -v wget >/dev/null; then
    timeout "$seconds" wget -nv --timeout=30 --tries=2 -O "$2" "$1"
  elif command -v python3 >/dev/null; then
    timeout "$seconds" python3 -c 'import shutil, sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=30) as answer, open(sys.argv[2], "wb") as file: shutil.copyfileobj(answer, file)' "$1" "$2"
  else
    fail "none of curl, wget and python3 is here to fetch $1; install one of them ('apt-get install curl')"
  fi
}

# unpack WHAT ADDRESS-OR-FILE SHA-256 TOOL FOLDER: the folder that holds TOOL within the archive becomes FOLDER.
# An empty sum is not checked.
unpack() {
  local what=$1 source=$2 sum=$3 tool=$4 folder=$5 work archive had found
  mkdir -p "$fetched"
  work=$(mktemp -d -p "$fetched" new.XXXXXX)
  # shellcheck disable=SC2064
  trap "rm -rf '$work'" EXIT
  archive=$source
  if [[ ! -f $source ]]; then
    archive=$work/archive
    printf 'doorbell: fetching %s from %s\n' "$what" "$source" >&2
    download "$source" "$archive" ||
      fail "$what cannot be fetched from $source within ${DOORBELL_FETCH_SECONDS:-1800} s; try again, set https_proxy, or install it yourself"
  fi
  had=$(sha256_of "$archive")
  [[ -z $sum || $had == "$sum" ]] ||
    fail "$source was cut or changed on its way: its SHA-256 is $had, not $sum; nothing of it is used; try again"
  mkdir "$work/unpacked"
  tar -xzf "$archive" -C "$work/unpacked" || fail "$source is not a whole .tar.gz; nothing of it is used; try again"
  found=$(find "$work/unpacked" -path "*/$tool" ! -type d | head -n 1)
  [[ -n $found ]] || fail "$source holds no $tool, so it is not $what"
  printf '%s\n' "$source" >"${found%"/$tool"}/doorbell.source"
  # Where somebody else was faster, that one is as good.
  [[ -d $folder ]] || mv "${found%"/$tool"}" "$folder"
  rm -rf "$work"
  trap - EXIT
}

# The JDK that DOORBELL_JDK_URL names, or the pinned one; WHY says why none of this machine is taken.
fetch_jdk() {
  local why=$1 name sum address folder
  if [[ -n ${DOORBELL_JDK_URL:-} ]]; then
    if [[ -d $DOORBELL_JDK_URL ]]; then
      folder=$DOORBELL_JDK_URL
    else
      folder=$fetched/jdk-of-$(printf '%s' "$DOORBELL_JDK_URL" | cksum | cut -d ' ' -f 1)
      [[ -d $folder ]] || unpack "the JDK of DOORBELL_JDK_URL" "$DOORBELL_JDK_URL" "${DOORBELL_JDK_SHA256:-}" bin/javac "$folder"
    fi
    (($(version_of "$folder") >= WANTED)) || fail "DOORBELL_JDK_URL=$DOORBELL_JDK_URL is no JDK $WANTED or later"
  else
    read -r name sum <<<"$(pinned_jdk)"
    [[ -n $name ]] || fail "$why; none is pinned for $(uname -s) on $(uname -m): install one and set JAVA_HOME"
    folder=$fetched/jdk-$JDK_RELEASE
    address=https://github.com/adoptium/temurin25-binaries/releases/download/jdk-${JDK_RELEASE/+/%2B}/OpenJDK25U-jdk_${name}_hotspot_${JDK_RELEASE/+/_}.tar.gz
    permitted "Eclipse Temurin $JDK_RELEASE (140 MB)" "$why"
    unpack "Eclipse Temurin $JDK_RELEASE" "$address" "$sum" bin/javac "$folder"
  fi
  JAVA_HOME=$folder
}

# Puts the pinned Maven in front of PATH.
fetch_maven() {
  local folder=$fetched/maven-$MAVEN_RELEASE
  if [[ ! -d $folder ]]; then
    permitted "Apache Maven $MAVEN_RELEASE (9 MB)" "no Maven on PATH"
    unpack "Apache Maven $MAVEN_RELEASE" "${DOORBELL_MAVEN_URL:-https://archive.apache.org/dist/maven/maven-3/$MAVEN_RELEASE/binaries/apache-maven-$MAVEN_RELEASE-bin.tar.gz}" \
      "$MAVEN_SHA256" bin/mvn "$folder"
  fi
  PATH=$folder/bin:$PATH
}
