package dev.doorbell.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;

/** Files that this process has open and memory that it has mapped. */
final class LeakWatch {
  /** Class loading, compilation and malloc's arenas make some of their own. */
  private static final int MAPPINGS_OF_THE_JVM = 100;

  private static final long MOMENT_NANOS = 120_000_000_000L;
  private static final long PAUSE_NANOS = 10_000_000L;

  private final int files;
  private final long mappings;

  private LeakWatch(int files, long mappings) {
    this.files = files;
    this.mappings = mappings;
  }

  static LeakWatch start() throws IOException {
    return new LeakWatch(files(), mappings());
  }

  /** Waits for a thread that closes what it has served, a moment later. */
  void requireNothingNew() throws IOException {
    long deadline = System.nanoTime() + MOMENT_NANOS;
    while (files() > files && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    assertThat(files()).as("open files").isLessThanOrEqualTo(files);
    long now = mappings();
    System.out.printf(
        "leak watch: %d files, %d mappings before and %d now%n", files, mappings, now);
    assertThat(now).as("mappings").isLessThan(mappings + MAPPINGS_OF_THE_JVM);
  }

  private static int files() {
    return Objects.requireNonNull(Path.of("/proc/self/fd").toFile().list()).length;
  }

  private static long mappings() throws IOException {
    return Files.readString(Path.of("/proc/self/maps"), StandardCharsets.UTF_8).lines().count();
  }
}
