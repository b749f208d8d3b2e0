package dev.doorbell.experiments.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.Basis;
import dev.doorbell.experiments.plan.Samples;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SamplesFileTest {
  @Test
  void a_column_a_metric_and_a_row_a_sample() {
    byte[] csv =
        SamplesFile.encode(
            List.of(
                Samples.of("latency", "ns", 2030L, 2031L, 1L << 53),
                Samples.of("goodput", "GB/s", 1.5, 0.1)),
            Basis.MODELLED);
    assertThat(new String(csv, StandardCharsets.UTF_8))
        .isEqualTo(
            """
            latency [ns] modelled,goodput [GB/s] modelled
            2030,1.5
            2031,0.1
            9007199254740992,
            """);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void samples_read_back_to_the_last_bit(long seed) throws IOException {
    Random random = new Random(seed);
    double[] values =
        random.longs(2000).mapToDouble(Double::longBitsToDouble).filter(Double::isFinite).toArray();
    List<Samples> samples =
        List.of(Samples.of("a.b", "GB/s", values), Samples.of("none", "", new double[0]));
    assertThat(decode(SamplesFile.encode(samples, Basis.EMULATED)))
        .as("seed %d", seed)
        .isEqualTo(samples);
  }

  @Test
  void a_point_that_only_counts_has_no_column() throws IOException {
    assertThat(decode(SamplesFile.encode(List.of(), Basis.MODELLED))).isEmpty();
  }

  @Test
  void samples_of_runs_that_named_no_basis_are_read() throws IOException {
    assertThat(decode("latency [ns]\n7\n".getBytes(StandardCharsets.UTF_8)))
        .containsExactly(Samples.of("latency", "ns", 7L));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "latency [ns] guessed\n1\n",
        "latency\n1\n",
        "latency [ns]\nx\n",
        "a [b],c [d]\n1\n"
      })
  void what_is_no_samples_file_is_refused(String text) {
    assertThatThrownBy(() -> decode(text.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(IOException.class);
  }

  private static List<Samples> decode(byte[] bytes) throws IOException {
    return SamplesFile.read(new ByteArrayInputStream(bytes), _ -> true).stream()
        .map(each -> Samples.of(each.metric(), each.unit(), each.samples()))
        .toList();
  }
}
