package dev.doorbell.doctor.facts;

import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Finds libraries where Linux distributions put them. */
final class LibraryReader {
  private static final List<String> FOLDERS =
      List.of(
          "usr/lib/x86_64-linux-gnu",
          "usr/lib/aarch64-linux-gnu",
          "lib/x86_64-linux-gnu",
          "lib/aarch64-linux-gnu",
          "usr/lib64",
          "lib64",
          "usr/lib",
          "usr/local/lib");

  /** {@code libibverbs.so.1.14.44.0}: interface version, then the release of rdma-core. */
  private static final Pattern VERBS = Pattern.compile("libibverbs\\.so\\.1\\.\\d+\\.(\\d+).*");

  private LibraryReader() {}

  static Stream<String> folders() {
    return FOLDERS.stream();
  }

  static RdmaLibraries rdma(Root root) {
    return new RdmaLibraries(
        folders()
            .flatMap(folder -> root.names(folder).stream())
            .map(VERBS::matcher)
            .filter(Matcher::matches)
            .map(matcher -> Versions.number(matcher.group(1)))
            .max(Comparator.naturalOrder()),
        folders()
            .flatMap(folder -> root.names(folder + "/libibverbs").stream())
            .anyMatch(name -> name.startsWith("libmlx5")));
  }
}
