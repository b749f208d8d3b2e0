package dev.doorbell.experiments.pasted;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.pcap.CaptureException;
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
  void bytes_that_are_no_packet_are_not_decoded() throws CaptureException {
    PacketReport report = PacketReport.of(new byte[80], PacketReport.usualPort());
    assertThat(report.isDecoded()).isFalse();
    assertThat(report.text(false)).contains("nothing was decoded");
  }
}
