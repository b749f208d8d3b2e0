package dev.doorbell.experiments.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.experiments.topology.TopologyFile;
import java.util.Locale;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against a table that was computed by hand: 8, 64, 512, 4 Ki, 64 Ki, 1 Mi bytes; nanoseconds. */
class PathModelTest {
  /** The table takes 31.508 GB/s for what is 31.5077. */
  private static final double ROUNDED_RATE = 1e-5;

  private static final long[] SIZES = {8, 64, 512, 4096, 65536, 1 << 20};

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "a3, 2674, 2676, 2691, 2820, 5033, 40441",
    "a4, 4244, 4246, 4261, 4390, 6603, 42011",
    "a5, 1624, 1626, 1641, 1770, 3983, 39391",
    "b1, 1873, 1875, , , ,",
    "b2, 3443, 3445, , , ,",
    "b3, 623, 626, , , ,",
    "c1, 1124, 1126, 1143, 1285, 3723, 42723",
    "d, 4235, 4239, 4272, 4543, 9193, 83600",
    "e1, 2154, 2156, 2171, 2300, 4513, 39921",
  })
  void under_one_switch(String path, Long b8, Long b64, Long b512, Long b4k, Long b64k, Long b1m)
      throws Exception {
    meets("round-pix", path, b8, b64, b512, b4k, b64k, b1m);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "a3, 5924, 5933, 6007, 6594, 16666, 177821",
    "a4, 6194, 6203, 6277, 6864, 16936, 178091",
    "a5, 3574, 3583, 3657, 4244, 14317, 175471",
    "b1, 3823, 3825, , , ,",
    "b2, 4093, 4095, , , ,",
    "b3, 1273, 1276, , , ,",
    "c1, 3074, 3077, 3109, 3359, 7656, 76400",
    "d, 4885, 4889, 4922, 5193, 9843, 84250",
    "e1, 3454, 3463, 3537, 4124, 14197, 175351",
  })
  void across_sockets(String path, Long b8, Long b64, Long b512, Long b4k, Long b64k, Long b1m)
      throws Exception {
    meets("round-sys", path, b8, b64, b512, b4k, b64k, b1m);
  }

  private static void meets(String topology, String path, Long... expected) throws Exception {
    PathModel model = PathModel.perPacket(TopologyFile.load(topology), Integer.MAX_VALUE);
    for (int i = 0; i < SIZES.length; i++) {
      Long wanted = expected[i];
      if (wanted == null) {
        assertThat(model.latencyNanos(named(path), SIZES[i])).isEmpty();
      } else {
        assertThat(model.latencyNanos(named(path), SIZES[i]).orElseThrow())
            .as("%s, %d bytes, %s", path, SIZES[i], topology)
            .isCloseTo(wanted, within(1.0 + wanted * ROUNDED_RATE));
      }
    }
  }

  private static PostingPath named(String word) {
    return PostingPath.valueOf(word.toUpperCase(Locale.ROOT));
  }

  /** The smallest size at which {@code second} is at least as fast as {@code first}, by search. */
  private static OptionalLong overtakes(
      PathModel model, PostingPath first, PostingPath second, long most) {
    long low = 1;
    long high = most;
    while (high - low > 1) {
      long middle = (low + high) >>> 1;
      double difference =
          model.latencyNanos(first, middle).orElseThrow()
              - model.latencyNanos(second, middle).orElseThrow();
      if (difference >= 0) {
        high = middle;
      } else {
        low = middle;
      }
    }
    return high == most ? OptionalLong.empty() : OptionalLong.of(high);
  }

  @Test
  void pull_overtakes_push_under_one_switch_where_the_store_granule_tells() throws Exception {
    PathModel model = PathModel.perPacket(TopologyFile.load("round-pix"), Integer.MAX_VALUE);
    // What push saves, 500 ns and 1550 ns, over what its smaller TLPs cost a byte.
    double rate = 31.5077 * 0.95;
    double perByte = (152.0 / 128 - 276.0 / 256) / rate;
    assertThat((double) overtakes(model, PostingPath.C1, PostingPath.A5, 1 << 20).orElseThrow())
        .isCloseTo(500 / perByte, within(1024.0));
    assertThat((double) overtakes(model, PostingPath.C1, PostingPath.A3, 1 << 20).orElseThrow())
        .isCloseTo(1550 / perByte, within(1024.0));
  }

  @Test
  void staging_overtakes_pull_across_sockets_and_on_chip_memory_is_ahead_everywhere()
      throws Exception {
    PathModel model = PathModel.perPacket(TopologyFile.load("round-sys"), Integer.MAX_VALUE);
    assertThat((double) overtakes(model, PostingPath.A5, PostingPath.D, 1 << 20).orElseThrow())
        .isBetween(8.0 * 1024, 24.0 * 1024);
    for (long size : SIZES) {
      assertThat(model.latencyNanos(PostingPath.C1, size).orElseThrow())
          .isLessThan(model.latencyNanos(PostingPath.A5, size).orElseThrow());
    }
  }

  @Test
  void nothing_that_reads_gpu_memory_works_where_peer_reads_are_not_routed() throws Exception {
    PathModel model = PathModel.perPacket(TopologyFile.load("no-p2p-reads"), Integer.MAX_VALUE);
    for (PostingPath path : PostingPath.values()) {
      assertThat(model.latencyNanos(path, 8).isEmpty()).as(path.word()).isEqualTo(path.readsGpu());
    }
  }

  @Test
  void ceilings_are_those_of_the_narrowest_leg() throws Exception {
    Topology pix = TopologyFile.load("round-pix");
    PathModel model = PathModel.perPacket(pix, Integer.MAX_VALUE);
    assertThat(model.ceiling(PostingPath.A3, 1 << 20).orElseThrow()).isCloseTo(27.76, within(0.01));
    assertThat(model.ceiling(PostingPath.C1, 1 << 20).orElseThrow()).isCloseTo(25.21, within(0.01));
    PathModel capped = PathModel.perPacket(TopologyFile.load("round-sys"), Integer.MAX_VALUE);
    assertThat(capped.ceiling(PostingPath.A3, 1 << 20).orElseThrow()).isCloseTo(6.1, within(0.001));
    assertThat(capped.ceiling(PostingPath.C1, 1 << 20).orElseThrow())
        .isCloseTo(14.3, within(0.001));
    assertThat(capped.ceiling(PostingPath.D, 1 << 20).orElseThrow()).isCloseTo(25.21, within(0.01));
  }

  @Test
  void a_poster_waits_for_the_stores_of_each_chunk() throws Exception {
    PathModel model = PathModel.perPacket(TopologyFile.load("same-switch"), Integer.MAX_VALUE);
    // 32 stores of 128 bytes and 24 of header at 63.015 GB/s x 0.95; 2 x 660 + 50 ns of fence.
    double chunk = 150 + 32 * (128 + 24) / (63.015 * 0.95) + 2 * 660 + 50;
    assertThat(model.posterCeiling(PostingPath.C1, 4096).orElseThrow())
        .isCloseTo(4096 / chunk, within(0.01));
    assertThat(model.posterCeiling(PostingPath.A3, 4096)).isEmpty();
  }

  @Test
  void tags_bound_a_long_read() throws Exception {
    String text = TopologyFile.text("same-switch");
    assertThat(text).contains("read_tags: {value: 128");
    PathModel model = PathModel.perPacket(TopologyFile.load("same-switch"), Integer.MAX_VALUE);
    // 128 requests of 512 bytes over a round trip of 2 * 660 + 300 ns and their serialisation.
    assertThat(model.ceiling(PostingPath.A3, 1 << 20).orElseThrow())
        .isCloseTo(128 * 512 / (1620 + 552 / (63.015 * 0.95)), within(0.01));
  }

  @Test
  void packets_smaller_than_a_read_request_leave_each_tag_less_to_hold() throws Exception {
    Topology topology = TopologyFile.load("same-switch");
    PathModel model = PathModel.perPacket(topology, 256);
    // 128 requests of 256 bytes, with 20 of header, over the same round trip.
    assertThat(model.ceiling(PostingPath.A3, 1 << 20).orElseThrow())
        .isCloseTo(128 * 256 / (1620 + 276 / (63.015 * 0.95)), within(0.01));
    assertThat(PathModel.perPacket(topology, 4096).latencyNanos(PostingPath.A3, 1 << 20))
        .isEqualTo(
            PathModel.perPacket(topology, Integer.MAX_VALUE).latencyNanos(PostingPath.A3, 1 << 20));
  }
}
