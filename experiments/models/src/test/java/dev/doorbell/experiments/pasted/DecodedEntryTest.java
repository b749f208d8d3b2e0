package dev.doorbell.experiments.pasted;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.pcap.CaptureException;
import dev.doorbell.core.roce.UdpHeader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

class DecodedEntryTest {
  private static final byte[] TAIL = HexFormat.of().parseHex("000000000000881308000011000542d3");

  @Test
  void the_end_of_a_cqe_in_error_is_one_and_says_what_to_do() {
    assertThat(DecodedEntry.guess(TAIL)).isEqualTo("cqe");
    byte[] whole = DecodedEntry.whole("cqe", TAIL);
    assertThat(whole).hasSize(64);
    List<DecodedEntry> entries = DecodedEntry.all("cqe", whole, "");
    assertThat(entries).hasSize(1);
    assertThat(entries.getFirst().text()).contains("remote access error", "qpn=0x000011");
    assertThat(entries.getFirst().detail()).contains("vendor 0x88", "fix     compare address");
  }

  @Test
  void what_is_too_short_for_an_entry_is_left() {
    byte[] bytes = new byte[64 + 10];
    assertThat(DecodedEntry.all("cqe", bytes, "")).hasSize(1);
    assertThat(DecodedEntry.left("cqe", bytes)).isEqualTo(10);
    assertThat(DecodedEntry.guess(new byte[] {1, 2, 3})).isEmpty();
  }

  @Test
  void codes_of_the_software_hca_are_rows_of_the_same_table() {
    byte[] own =
        DecodedEntry.whole(
            "cqe", HexFormat.of().parseHex("00000000000" + "0bb04" + "08000011000542d3"));
    assertThat(DecodedEntry.all("cqe", own, "").getFirst().detail())
        .contains("vendor 0xbb: Doorbell's HCA: the range is not inside the region");
  }

  @Test
  void a_packet_that_is_cut_shows_its_transport_header() throws CaptureException {
    ByteBuffer capture = ByteBuffer.allocate(24 + 16 + 60).order(ByteOrder.LITTLE_ENDIAN);
    capture.putInt(0xa1b2c3d4).putShort((short) 2).putShort((short) 4).putLong(0);
    capture.putInt(60).putInt(1).putLong(0).putInt(60).putInt(274);
    capture.put(
        HexFormat.of()
            .parseHex(
                "0c42a10000020c42a10000010800"
                    + "450001040000400040110000"
                    + "0a0000010a000002"
                    + "c00012b700f00000"
                    + "0a40ffff0000005580000007"
                    + "00007f000000"));
    PacketReport report = PacketReport.of(capture.array(), UdpHeader.ROCE_PORT);
    assertThat(report.isDecoded()).isFalse();
    assertThat(report.text(false))
        .contains("RC WRITE_ONLY qp=0x000055 psn=0x000007, cut inside its headers: 60 of 274 bytes")
        .endsWith("1 packets end inside their headers: capture more of each (tcpdump -s 0)\n");
  }

  @Test
  void bytes_that_are_no_packet_are_not_decoded() throws CaptureException {
    PacketReport report = PacketReport.of(new byte[80], UdpHeader.ROCE_PORT);
    assertThat(report.isDecoded()).isFalse();
    assertThat(report.text(false)).contains("nothing was decoded");
  }
}
