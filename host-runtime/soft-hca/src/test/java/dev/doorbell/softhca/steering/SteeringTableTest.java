package dev.doorbell.softhca.steering;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.roce.Gid;
import dev.doorbell.softhca.steering.FrameFields.FlowMatch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Fields of frames that were put together by hand from RFC 894, 791, 768, 9293, 8200 and 802.1Q.
 */
class SteeringTableTest {
  private static final String MACS = "010203040506" + "0a0b0c0d0e0f";
  private static final String UDP_OVER_IPV4 =
      MACS
          + "0800"
          + "45b80020"
          + "00004000"
          + "40110000"
          + "01010101"
          + "02020202"
          + "04d2162e00080000";
  private static final String FIELDS_OF_MACS = "0a0b0c0d0e0f%s010203040506%s";
  private static final String IPV4_ADDRESSES =
      "00".repeat(12) + "01010101" + "00".repeat(12) + "02020202";

  private final SteeringTable<String> table = new SteeringTable<>();

  private static MemorySegment frame(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex);
    MemorySegment frame = Arena.ofAuto().allocate(bytes.length, Long.BYTES);
    MemorySegment.copy(bytes, 0, frame, ValueLayout.JAVA_BYTE, 0, bytes.length);
    return frame;
  }

  private static byte[] fields(String hex) {
    MemorySegment frame = frame(hex);
    MemorySegment fields = Arena.ofAuto().allocate(FrameFields.BYTES, Long.BYTES);
    FrameFields.read(frame.address(), (int) frame.byteSize(), fields.address());
    return fields.toArray(ValueLayout.JAVA_BYTE);
  }

  private static String words(String hex) {
    return HexFormat.of().formatHex(fields(hex));
  }

  @Test
  void fields_of_udp_over_ipv4_stand_where_the_device_has_them() {
    assertThat(words(UDP_OVER_IPV4))
        .isEqualTo(
            FIELDS_OF_MACS.formatted("0800", "0000")
                + "11b80800" // UDP; DSCP and ECN; version 4
                + "00000000"
                + "00000040" // time to live
                + "04d2162e"
                + IPV4_ADDRESSES);
  }

  @Test
  void a_fragment_has_no_ports_and_options_are_skipped() {
    assertThat(words(UDP_OVER_IPV4.replace("00004000", "00002000")))
        .isEqualTo(
            FIELDS_OF_MACS.formatted("0800", "0000")
                + "11b82800"
                + "00".repeat(4)
                + "00000040"
                + "00".repeat(4)
                + IPV4_ADDRESSES);
    String options =
        UDP_OVER_IPV4
            .replace("45b8", "46b8")
            .replace("0202020204d2", "02020202" + "01010100" + "04d2");
    assertThat(words(options)).isEqualTo(words(UDP_OVER_IPV4));
  }

  @Test
  void tcp_over_ipv6_behind_a_vlan_tag_has_flags_and_the_tag() {
    String source = "a0a100000000000000000000a8a9a6a7";
    String destination = "b0b100000000000000000000b8b9b6b7";
    String frame =
        MACS
            + "8100ac0c"
            + "86dd"
            + "62a00000"
            + "00140640"
            + source
            + destination
            + "04d2162e"
            + "0000000100000000"
            + "5112ffff00000000";
    assertThat(words(frame))
        .isEqualTo(
            FIELDS_OF_MACS.formatted("86dd", "ac0c")
                + "062a8d12" // customer tag, version 6, NS, SYN and ACK
                + "04d2162e"
                + "00000040"
                + "00000000"
                + source
                + destination);
  }

  @Test
  void what_a_frame_lacks_at_its_end_is_not_read() {
    for (int bytes = 0; bytes <= UDP_OVER_IPV4.length() / 2; bytes++) {
      String cut = words(UDP_OVER_IPV4.substring(0, 2 * bytes));
      if (bytes < 14) {
        assertThat(cut).isEqualTo("00".repeat(FrameFields.BYTES));
      } else if (bytes < 34) {
        assertThat(cut).isEqualTo(FIELDS_OF_MACS.formatted("0800", "0000") + "00".repeat(48));
      }
    }
  }

  private static FlowMatch toPort(int port) {
    byte[] value = new byte[FrameFields.BYTES];
    byte[] mask = new byte[FrameFields.BYTES];
    value[FrameFields.UDP_PORTS + 2] = (byte) (port >>> Byte.SIZE);
    value[FrameFields.UDP_PORTS + 3] = (byte) port;
    mask[FrameFields.UDP_PORTS + 2] = -1;
    mask[FrameFields.UDP_PORTS + 3] = -1;
    return new FlowMatch(value, mask);
  }

  private List<String> receivers() {
    MemorySegment frame = frame(UDP_OVER_IPV4);
    List<String> names = new ArrayList<>();
    table.frame(frame.address(), (int) frame.byteSize(), names::add);
    return names;
  }

  @Test
  void the_lowest_priority_number_that_matches_has_the_frame() {
    FlowMatch all = new FlowMatch(new byte[FrameFields.BYTES], new byte[FrameFields.BYTES]);
    table.add(all, 9, List.of("late"), null);
    table.add(toPort(5678), 2, List.of("first"), null);
    var second = table.add(toPort(5678), 2, List.of("second"), null);
    table.add(all, 2, List.of("younger"), null);
    table.add(toPort(5679), 1, List.of("other port"), null);
    assertThat(receivers()).containsExactly("first", "second");
    table.remove(second);
    table.forget("first");
    assertThat(receivers()).containsExactly("younger");
    table.forget("younger");
    assertThat(receivers()).containsExactly("late");
    table.forget("late");
    assertThat(receivers()).isEmpty();
  }

  /** Microsoft's verification suite: 66.9.149.187:2794 to 161.142.100.80:1766. */
  @Test
  void the_hash_of_addresses_and_ports_is_that_of_the_published_vectors() {
    byte[] key =
        HexFormat.of()
            .parseHex(
                "6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa");
    String tcp =
        MACS
            + "0800"
            + "4500002800000000"
            + "40060000"
            + "420995bb"
            + "a18e6450"
            + "0aea06e6"
            + "0000000000000000"
            + "5002ffff00000000";
    long fields = MemorySegment.ofArray(fields(tcp)).byteSize();
    assertThat(fields).isEqualTo(FrameFields.BYTES);
    MemorySegment at = Arena.ofAuto().allocate(FrameFields.BYTES, Long.BYTES);
    MemorySegment.copy(fields(tcp), 0, at, ValueLayout.JAVA_BYTE, 0, FrameFields.BYTES);
    assertThat(new ReceiveHash(key, 0b11).of(at.address())).isEqualTo(0x323e_8fc2);
    assertThat(new ReceiveHash(key, 0b11_0011).of(at.address())).isEqualTo(0x51cc_c178);
    assertThat(ReceiveHash.isLegal(0b101)).as("both versions of IP").isFalse();
    assertThat(ReceiveHash.isLegal(1 << 8)).as("IPsec").isFalse();
    FlowMatch all = new FlowMatch(new byte[FrameFields.BYTES], new byte[FrameFields.BYTES]);
    MemorySegment frame = frame(tcp);
    table.add(all, 0, List.of("0", "1", "2", "3"), new ReceiveHash(key, 0b11));
    List<String> names = new ArrayList<>();
    table.frame(frame.address(), (int) frame.byteSize(), names::add);
    assertThat(names).containsExactly("2");
  }

  @Test
  void a_group_has_each_member_once() {
    Gid group = Gid.parse("239.1.2.3");
    assertThat(table.attach(group, "a")).isTrue();
    assertThat(table.attach(group, "b")).isTrue();
    assertThat(table.attach(group, "a")).isFalse();
    List<String> members = new ArrayList<>();
    table.multicast(group, members::add);
    table.multicast(Gid.parse("239.1.2.4"), members::add);
    assertThat(members).containsExactly("a", "b");
    assertThat(table.detach(group, "b")).isTrue();
    assertThat(table.detach(group, "b")).isFalse();
    table.forget("a");
    members.clear();
    table.multicast(group, members::add);
    assertThat(members).isEmpty();
  }

  @Test
  void groups_have_the_ethernet_addresses_of_their_rfcs() {
    assertThat(Gid.parse("239.129.2.3").multicastMac()).isEqualTo(0x01_00_5e_01_02_03L);
    assertThat(Gid.parse("ff0e::1:203").multicastMac()).isEqualTo(0x33_33_00_01_02_03L);
    assertThat(Gid.parse("ff02::1").isMulticast()).isTrue();
    assertThat(Gid.parse("223.255.255.255").isMulticast()).isFalse();
    assertThat(Gid.parse("240.0.0.0").isMulticast()).isFalse();
    assertThat(Gid.parse("fe80::1").isMulticast()).isFalse();
  }
}
