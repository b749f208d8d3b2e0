package dev.doorbell.interop.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;

class SoakTest {
  private static final int SAMPLES = 8;
  private static final long MEBIBYTE = 1 << 20;

  @Test
  void clients_come_and_go_and_the_server_says_what_it_takes() throws Exception {
    SoakOptions options = new SoakOptions(Duration.ofSeconds(2), 3, 1000, SAMPLES, 5);
    List<SoakReport.Sample> heard = new ArrayList<>();
    try (HcaServer server = new HcaServer(ServeOptions.LOCAL)) {
      List<Object> gone = new ArrayList<>();
      Thread visitors =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      gone.add(SoakClients.run(server.control(), options, () -> false));
                    } catch (Exception e) {
                      gone.add(e);
                    }
                  });
      SoakReport report = HcaSoak.run(server, options, () -> false, heard::add);
      // Whoever is still connected needs the server until it has left.
      server.run(() -> !visitors.isAlive());
      assertThat(report.samples()).hasSize(SAMPLES).isEqualTo(heard);
      assertThat(gone)
          .singleElement()
          .isInstanceOfSatisfying(Long.class, count -> assertThat(count).isPositive());
      assertThat(server.clientsEver()).isGreaterThanOrEqualTo((long) gone.getFirst());
      assertThat(server.carried()).isPositive();
      assertThat(report.samples())
          .allSatisfy(
              sample -> {
                assertThat(sample.memory().heap()).isPositive();
                assertThat(sample.memory().outside()).isBetween(1L, sample.memory().resident());
              });
    }
  }

  @Test
  void memory_that_grows_after_the_first_quarter_is_named() {
    assertThat(report(at -> 10 * MEBIBYTE).growth()).isEmpty();
    assertThat(report(at -> (at < 2 ? 1 : 40) * MEBIBYTE).growth()).isEmpty();
    assertThat(report(at -> (40 + at % 2) * MEBIBYTE).growth()).isEmpty();
    assertThat(report(at -> (40 + at) * MEBIBYTE).growth())
        .contains("the heap grew from 43.0 to 47.0 MiB");
  }

  private static SoakReport report(LongUnaryOperator heap) {
    List<SoakReport.Sample> samples = new ArrayList<>();
    for (int at = 0; at < SAMPLES; at++) {
      MemoryUse memory = new MemoryUse(heap.applyAsLong(at), 100 * MEBIBYTE, 50 * MEBIBYTE);
      samples.add(new SoakReport.Sample(at, at, at, memory));
    }
    return new SoakReport(samples);
  }

  @Test
  void resident_pages_are_counted_inside_and_outside_the_heap() {
    List<String> smaps =
        """
        700000000-700100000 rw-p 00000000 00:00 0
        Size:               1024 kB
        Rss:                 512 kB
        7f0000000000-7f0000021000 rw-p 00000000 00:00 0                          [heap]
        Rss:                  40 kB
        Pss:                  40 kB
        """
            .lines()
            .toList();
    assertThat(MemoryUse.read(7, smaps, 0x7_0000_0000L, 0x7_8000_0000L))
        .isEqualTo(new MemoryUse(7, 552 << 10, 40 << 10));
  }
}
