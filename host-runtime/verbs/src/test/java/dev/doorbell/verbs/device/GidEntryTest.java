package dev.doorbell.verbs.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.roce.Gid;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests which GID is chosen, and the reason that is given. */
class GidEntryTest {
  /**
   * A GID table as Linux fills it for a RoCE port: each address for version 1, then for version 2.
   */
  private static List<GidEntry> table(String... addresses) {
    List<GidEntry> entries = new ArrayList<>();
    for (String address : addresses) {
      entries.add(new GidEntry(entries.size(), Gid.parse(address), GidEntry.Type.ROCE_V1));
      entries.add(new GidEntry(entries.size(), Gid.parse(address), GidEntry.Type.ROCE_V2));
    }
    return entries;
  }

  @Test
  void on_ethernet_the_first_version_2_entry_with_an_ipv4_address_is_taken() {
    GidEntry.Choice choice =
        GidEntry.choose(table("fe80::1", "2001:db8::1", "10.0.0.1", "10.0.0.2"), true, -1);
    assertThat(choice.entry()).hasToString("5: RoCE v2 10.0.0.1");
    assertThat(choice.reason()).isEqualTo("the first RoCE v2 entry with an IPv4 address");
  }

  @Test
  void without_ipv4_a_routable_address_goes_before_a_link_local_one() {
    assertThat(GidEntry.choose(table("fe80::1", "2001:db8::1"), true, -1).entry().index())
        .isEqualTo(3);
    GidEntry.Choice choice = GidEntry.choose(table("fe80::1"), true, -1);
    assertThat(choice.entry().index()).isEqualTo(1);
    assertThat(choice.reason()).contains("link-local");
  }

  @Test
  void on_infiniband_the_first_is_taken() {
    List<GidEntry> entries =
        List.of(new GidEntry(0, Gid.parse("fe80::2:c903:0:1"), GidEntry.Type.INFINIBAND));
    assertThat(GidEntry.choose(entries, false, -1).entry().index()).isZero();
  }

  @Test
  void an_index_of_the_user_is_taken_as_it_is() {
    assertThat(GidEntry.choose(table("fe80::1"), true, 0).entry().type())
        .isEqualTo(GidEntry.Type.ROCE_V1);
    assertThatThrownBy(() -> GidEntry.choose(table("fe80::1"), true, 7))
        .hasMessage("GID index 7 is empty; there are 0: RoCE v1 fe80::1, 1: RoCE v2 fe80::1");
  }

  @Test
  void a_port_without_version_2_is_explained() {
    List<GidEntry> entries = List.of(new GidEntry(0, Gid.parse("fe80::1"), GidEntry.Type.ROCE_V1));
    assertThatThrownBy(() -> GidEntry.choose(entries, true, -1))
        .hasMessageContaining("no RoCE v2 GID (0: RoCE v1 fe80::1)")
        .hasMessageContaining("IP address");
  }
}
