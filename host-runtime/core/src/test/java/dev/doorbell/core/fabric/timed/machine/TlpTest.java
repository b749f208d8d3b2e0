package dev.doorbell.core.fabric.timed.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TlpTest {
  private static final Link GEN4 = Link.pcie("slot", "a", "b", 4, 16, 256, 1);

  @ParameterizedTest(name = "{0} bytes at {1}, largest payload {2}")
  @CsvSource({
    "512, 0, 256, 2, 560",
    "512, 0, 512, 1, 536",
    "64, 0, 32, 2, 112",
    "8, 0, 256, 1, 32",
    "256, 4032, 256, 2, 304",
  })
  void writes_are_cut_and_weigh(int bytes, long address, int maxPayload, int tlps, int wire) {
    assertThat(Tlp.writes(address, bytes, maxPayload)).isEqualTo(tlps);
    assertThat(bytes + tlps * GEN4.writeOverhead()).isEqualTo(wire);
  }

  @ParameterizedTest(name = "{0} bytes at {1}, largest request {2}, cut {3}")
  @CsvSource({
    "512, 0, 512, 256, 1, 24, 2, 552",
    "512, 4, 512, 256, 1, 24, 3, 572",
    "512, 0, 512, 64, 1, 24, 8, 672",
    "512, 4, 512, 64, 1, 24, 9, 692",
    "4096, 0, 512, 256, 8, 192, 16, 4416",
    "4096, 0, 4096, 256, 1, 24, 16, 4416",
    "128, 0, 64, 256, 2, 48, 2, 168",
    "64, 4, 512, 64, 1, 24, 2, 104",
  })
  void reads_are_cut_and_weigh(
      int bytes,
      long address,
      int maxRequest,
      int cut,
      int requests,
      int requestWire,
      int completions,
      int completionWire) {
    assertThat(Tlp.requests(address, bytes, maxRequest)).isEqualTo(requests);
    assertThat(requests * GEN4.requestBytes()).isEqualTo(requestWire);
    assertThat(Tlp.completions(address, bytes, maxRequest, cut)).isEqualTo(completions);
    assertThat(bytes + completions * GEN4.completionOverhead()).isEqualTo(completionWire);
  }

  @Test
  void headers_depend_on_address_width_checksum_and_generation() {
    assertThat(link(4, true, true).writeOverhead()).isEqualTo(28);
    assertThat(link(4, false, false).writeOverhead()).isEqualTo(20);
    assertThat(link(4, false, false).completionOverhead()).isEqualTo(20);
    assertThat(link(6, true, false).writeOverhead()).isEqualTo(16);
    assertThat(link(0, true, false).writeOverhead()).isZero();
  }

  private static Link link(int generation, boolean wide, boolean ecrc) {
    double rate = generation == 0 ? 10 : Link.rate(generation, 16);
    return new Link("slot", "a", "b", generation, 16, rate, 256, wide, ecrc, 1, null);
  }

  @ParameterizedTest
  @CsvSource({"1, 4.0", "2, 8.0", "3, 15.754", "4, 31.508", "5, 63.015", "6, 118.0"})
  void sixteen_lanes_carry(int generation, double bytesPerNano) {
    assertThat(Link.rate(generation, 16)).isCloseTo(bytesPerNano, within(0.0005));
  }

  @Test
  void a_write_of_200_bytes_takes_one_header_credit_and_thirteen_of_data() {
    assertThat(Tlp.writes(0, 200, 256)).isEqualTo(1);
    assertThat(Tlp.dataCredits(200)).isEqualTo(13);
  }

  @Test
  void cuts_cover_everything_once_and_cross_no_boundary() {
    for (long seed = 1; seed <= 2000; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      long address = random.nextLong(1 << 20);
      int bytes = 1 + random.nextInt(20_000);
      int request = 64 << random.nextInt(7);
      long at = address;
      int left = bytes;
      int count = 0;
      while (left > 0) {
        int length = Tlp.requestLength(at, left, request);
        assertThat(length).as("seed %d", seed).isBetween(1, request);
        assertThat(at / 4096).as("seed %d", seed).isEqualTo((at + length - 1) / 4096);
        at += length;
        left -= length;
        count++;
      }
      assertThat(count).isEqualTo(Tlp.requests(address, bytes, request));
      int largest = Tlp.completions(address, bytes, request, 256);
      int smallest = Tlp.completions(address, bytes, request, 64);
      assertThat(largest).as("seed %d", seed).isBetween(count, smallest);
    }
  }
}
