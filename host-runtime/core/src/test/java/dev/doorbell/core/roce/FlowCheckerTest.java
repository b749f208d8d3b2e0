package dev.doorbell.core.roce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.pcap.CapturedFrame;
import dev.doorbell.core.roce.generated.Bth;
import dev.doorbell.core.roce.generated.Reth;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Captures of a flow that was right, made wrong in one place. */
class FlowCheckerTest {
  private static List<RoceFrame> frames(String capture) {
    List<RoceFrame> frames = new ArrayList<>();
    for (CapturedFrame captured : RoceFixtures.capture(capture).frames()) {
      NativeFrame bytes = NativeFrame.of(captured.bytes());
      RoceFrame frame = new RoceFrame();
      frame.parse(bytes.address(), bytes.bytes());
      frames.add(frame);
    }
    return frames;
  }

  private static List<String> problems(List<RoceFrame> frames) {
    FlowChecker checker = new FlowChecker();
    List<String> problems = new ArrayList<>();
    frames.forEach(frame -> problems.addAll(checker.check(frame, true).problems()));
    assertThat(checker.problems()).isEqualTo(problems.size());
    return problems;
  }

  /** The problems of a capture after {@code change} to one of its frames, ICRC made right. */
  private static List<String> problems(String capture, int frame, Consumer<RoceFrame> change) {
    List<RoceFrame> frames = frames(capture);
    RoceFrame changed = frames.get(frame - 1);
    change.accept(changed);
    Icrc.write(changed.icrc, new Icrc().of(changed));
    changed.parse(changed.ethernet, (int) (changed.icrc + Icrc.BYTES - changed.ethernet));
    return problems(frames);
  }

  private static void putPsn(RoceFrame frame, int psn) {
    long at = frame.bth + Bth.PSN_OFFSET;
    BigEndian.putInt(at, (BigEndian.getInt(at) & ~Bth.MASK_24) | psn);
  }

  private static void putOpcode(RoceFrame frame, int opcode) {
    RawMemory.putByte(frame.bth, (byte) opcode);
  }

  @Test
  void any_flipped_bit_of_payload_or_invariant_header_breaks_the_icrc() {
    long seed = 7;
    SplittableRandom random = new SplittableRandom(seed);
    List<RoceFrame> frames = frames("write");
    RoceFrame frame = frames.getFirst();
    Icrc icrc = new Icrc();
    for (int i = 0; i < 500; i++) {
      int at = random.nextInt((int) (frame.icrc - frame.bth));
      if (at == Bth.CONGESTION_OFFSET) {
        continue;
      }
      int bit = 1 << random.nextInt(8);
      byte before = RawMemory.getByte(frame.bth + at);
      RawMemory.putByte(frame.bth + at, (byte) (before ^ bit));
      assertThat(icrc.of(frame))
          .as("seed %d, byte %d, bit %d", seed, at, bit)
          .isNotEqualTo(Icrc.read(frame.icrc));
      RawMemory.putByte(frame.bth + at, before);
    }
    assertThat(icrc.of(frame)).isEqualTo(Icrc.read(frame.icrc));
  }

  @Test
  void what_routers_change_does_not_break_the_icrc() {
    RoceFrame frame = frames("write").getFirst();
    RawMemory.putByte(frame.ip + Ipv4Header.TRAFFIC_CLASS_OFFSET, (byte) 3);
    RawMemory.putByte(frame.ip + Ipv4Header.TTL_OFFSET, (byte) 1);
    RawMemory.putByte(frame.bth + Bth.CONGESTION_OFFSET, (byte) 0x80);
    Ipv4Header.putChecksum(frame.ip);
    FlowChecker checker = new FlowChecker();
    FlowChecker.Findings findings = checker.check(frame, true);
    assertThat(findings.problems()).isEmpty();
    assertThat(findings.notes()).containsExactly("congestion experienced");
  }

  @Test
  void a_wrong_icrc_is_named_with_the_right_one() {
    List<RoceFrame> frames = frames("write_zero");
    Icrc.write(frames.getFirst().icrc, 0);
    assertThat(problems(frames)).containsExactly("ICRC is 0x00000000, should be 0x85099849");
  }

  @Test
  void a_wrong_ip_checksum_is_found() {
    List<RoceFrame> frames = frames("write_zero");
    RawMemory.putShort(frames.getFirst().ip + Ipv4Header.CHECKSUM_OFFSET, (short) 0);
    assertThat(problems(frames)).containsExactly("IPv4 header checksum is wrong");
  }

  @Test
  void a_packet_that_is_missing_is_a_gap() {
    List<RoceFrame> frames = frames("write");
    frames.remove(1);
    assertThat(problems(frames)).containsExactly("PSN 0x00aa12 where 0x00aa11 is due: 1 missing");
  }

  @Test
  void any_packet_that_the_capture_lost_is_one_finding() {
    for (String capture : List.of("two_writes", "write", "read", "send", "write_imm", "nak_seq")) {
      int frames = frames(capture).size();
      for (int lost = 0; lost < frames; lost++) {
        List<RoceFrame> left = frames(capture);
        left.remove(lost);
        assertThat(problems(left)).as("%s without frame %d", capture, lost + 1).hasSizeLessThan(2);
      }
    }
  }

  @Test
  void an_answer_to_what_was_not_sent_is_found() {
    assertThat(problems("write", 4, frame -> putPsn(frame, 0xaa13)))
        .containsExactly("answers PSN 0x00aa13, which was not sent");
  }

  @Test
  void a_first_inside_a_message_is_found() {
    assertThat(problems("send", 2, frame -> putOpcode(frame, BthOpcode.SEND_FIRST)))
        .containsExactly("a new message inside an unfinished SEND");
  }

  @Test
  void a_send_inside_a_write_is_found() {
    assertThat(problems("write", 2, frame -> putOpcode(frame, BthOpcode.SEND_MIDDLE)))
        .contains("a SEND inside a WRITE");
  }

  @Test
  void a_write_whose_payload_does_not_add_up_is_found() {
    assertThat(
            problems(
                "write",
                1,
                frame -> BigEndian.putInt(frame.header(BthOpcode.RETH) + Reth.LENGTH_OFFSET, 2499)))
        .containsExactly("2500 bytes so far of a WRITE of 2499, at its end");
  }

  @Test
  void read_responses_that_do_not_add_up_are_found() {
    assertThat(
            problems(
                "read",
                1,
                frame -> BigEndian.putInt(frame.header(BthOpcode.RETH) + Reth.LENGTH_OFFSET, 2501)))
        .containsExactly("2500 bytes answer a READ of 2501");
    assertThat(problems("read", 3, frame -> putOpcode(frame, BthOpcode.READ_RESPONSE_ONLY)))
        .isNotEmpty();
  }

  @Test
  void an_msn_that_goes_back_is_found() {
    assertThat(problems("two_writes", 8, frame -> Aeth.write(frame.extended, Aeth.ACK, 0)))
        .containsExactly("MSN goes back from 1 to 0");
  }

  @Test
  void an_msn_of_more_messages_than_were_sent_is_found() {
    assertThat(problems("two_writes", 8, frame -> Aeth.write(frame.extended, Aeth.ACK, 3)))
        .containsExactly("MSN is 3, and no more than 2 messages can be complete");
    assertThat(problems("two_writes", 8, frame -> Aeth.write(frame.extended, Aeth.ACK, 0x7fffff)))
        .hasSize(1);
  }

  @Test
  void a_retransmission_whose_reth_disagrees_with_its_payload_is_found() {
    List<RoceFrame> frames = frames("write");
    RoceFrame again = frames("write").getFirst();
    BigEndian.putInt(again.header(BthOpcode.RETH) + Reth.LENGTH_OFFSET, 100);
    Icrc.write(again.icrc, new Icrc().of(again));
    frames.add(again);
    assertThat(problems(frames))
        .containsExactly("sent again with 1024 bytes so far, and its RETH has 100");
    List<RoceFrame> right = frames("write");
    right.addAll(frames("write").subList(0, 3));
    assertThat(problems(right)).isEmpty();
  }

  @Test
  void a_partition_key_of_no_partition_is_found() {
    for (int key : new int[] {0, 0x8000}) {
      assertThat(problems("write_zero", 1, frame -> Bth.putPartitionKey(frame.bth, key)))
          .containsExactly("P_Key 0x%04x is no partition: its lower 15 bits are 0".formatted(key));
    }
  }

  @Test
  void a_reserved_syndrome_is_found() {
    assertThat(problems("write", 4, frame -> Aeth.write(frame.extended, 0x7f, 0)))
        .containsExactly("syndrome 0x7f is reserved");
  }

  @Test
  void naks_and_retransmissions_are_noted_and_no_problems() {
    FlowChecker checker = new FlowChecker();
    List<String> notes = new ArrayList<>();
    for (RoceFrame frame : frames("nak_seq")) {
      notes.addAll(checker.check(frame, true).notes());
    }
    assertThat(checker.problems()).isZero();
    assertThat(notes)
        .containsExactly("NAK, packet sequence error", "sent again", "sent again", "sent again");
  }

  @Test
  void a_capture_that_starts_in_the_middle_is_understood() {
    List<RoceFrame> frames = frames("two_writes");
    assertThat(problems(frames.subList(1, frames.size()))).isEmpty();
    assertThat(problems(frames.subList(3, frames.size()))).isEmpty();
  }

  @Test
  void no_bytes_whatever_make_the_parser_or_the_checker_fail() {
    long seed = 0xf022;
    SplittableRandom random = new SplittableRandom(seed);
    List<String> names = RoceFixtures.all();
    FlowChecker checker = new FlowChecker();
    RoceFrame frame = new RoceFrame();
    int parsed = 0;
    NativeFrame memory = NativeFrame.empty(RoceFrame.MAX_BYTES);
    for (int i = 0; i < 20_000; i++) {
      List<CapturedFrame> frames =
          RoceFixtures.capture(names.get(random.nextInt(i < 200 ? names.size() : 1))).frames();
      byte[] bytes = frames.get(random.nextInt(frames.size())).bytes().clone();
      for (int flips = random.nextInt(6); flips > 0; flips--) {
        bytes[random.nextInt(Math.min(bytes.length, 90))] ^= (byte) (1 << random.nextInt(8));
      }
      int length = random.nextInt(4) == 0 ? random.nextInt(bytes.length + 1) : bytes.length;
      for (int b = 0; b < length; b++) {
        RawMemory.putByte(memory.address() + b, bytes[b]);
      }
      if (frame.parse(memory.address(), length) == RoceFrame.Verdict.ROCE) {
        assertThat(frame.icrc + Icrc.BYTES)
            .as("seed %d, case %d", seed, i)
            .isLessThanOrEqualTo(memory.address() + length);
        assertThat(PacketPrinter.full(frame, checker.expectedIcrc(frame))).contains("ICRC");
        checker.check(frame, true);
        parsed++;
      }
    }
    assertThat(parsed).isBetween(2_000, 19_000);
  }
}
