package dev.doorbell.interop.shim.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class RunnableThreadsTest {
  private static int numerator(String line) {
    byte[] text = line.getBytes(StandardCharsets.US_ASCII);
    return RunnableThreads.numerator(text, text.length);
  }

  @Test
  void the_count_stands_before_the_slash() {
    assertThat(numerator("0.20 0.18 0.12 1/80 11206\n")).isEqualTo(1);
    assertThat(numerator("33.31 29.26 23.89 117/1480 11206\n")).isEqualTo(117);
  }

  @Test
  void another_text_counts_as_a_busy_machine() {
    assertThat(numerator("")).isEqualTo(Integer.MAX_VALUE);
    assertThat(numerator("no such file\n")).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void this_thread_runs_and_needs_a_core() throws IOException {
    try (RunnableThreads none = new RunnableThreads(0);
        RunnableThreads many = new RunnableThreads(1 << 20)) {
      assertThat(none.haveCores()).isFalse();
      assertThat(many.haveCores()).isTrue();
    }
  }
}
