package dev.doorbell.doctor.facts;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * rdma-core's user space.
 *
 * @param verbs release of rdma-core that {@code libibverbs.so.1} belongs to, such as 44; its file
 *     name says so. Empty where the library was not found
 * @param mlx5Provider whether libibverbs has a driver for mlx5
 */
public record RdmaLibraries(Optional<Integer> verbs, boolean mlx5Provider) {
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

  static Stream<String> folders() {
    return FOLDERS.stream();
  }

  static RdmaLibraries read(Root root) {
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
