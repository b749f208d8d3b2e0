package dev.doorbell.core.mlx5;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.NativeBytes;
import org.junit.jupiter.api.Test;

/** Bytes as {@code struct mlx5_wqe_eth_seg} has them. */
class EthernetSegmentTest {
  @Test
  void checksums_and_the_size_of_the_inline_header_are_read_where_they_are() {
    String words = "00000000" + "c0000000" + "00000000" + "0012" + "0a0b";
    try (NativeBytes segment = NativeBytes.ofHex(words + "00".repeat(16))) {
      assertThat(EthernetSegment.checksums(segment.address())).isEqualTo(0xc0);
      assertThat(EthernetSegment.headerBytes(segment.address())).isEqualTo(18);
      EthernetSegment.write(segment.address(), 14);
      assertThat(segment.hex()).startsWith("00".repeat(12) + "000e" + "0a0b");
    }
  }

  @Test
  void two_bytes_of_the_header_stand_in_the_first_unit() {
    assertThat(EthernetSegment.units(0)).isEqualTo(1);
    assertThat(EthernetSegment.units(2)).isEqualTo(1);
    assertThat(EthernetSegment.units(3)).isEqualTo(2);
    assertThat(EthernetSegment.units(18)).isEqualTo(2);
    assertThat(EthernetSegment.units(19)).isEqualTo(3);
  }
}
