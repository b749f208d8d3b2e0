package dev.doorbell.core.roce;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.pcap.CapturedFrame;
import dev.doorbell.core.roce.generated.AtomicAckEth;
import dev.doorbell.core.roce.generated.AtomicEth;
import dev.doorbell.core.roce.generated.Bth;
import dev.doorbell.core.roce.generated.ImmDt;
import dev.doorbell.core.roce.generated.Reth;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every captured packet of Linux Soft-RoCE, against Wireshark's reading of it and our own making.
 */
class CaptureReplayTest {
  static Stream<String> noted() {
    return RoceFixtures.NOTED.stream();
  }

  static Stream<String> all() {
    return RoceFixtures.all().stream();
  }

  @ParameterizedTest
  @MethodSource("noted")
  void every_field_is_what_wireshark_says(String name) {
    List<String[]> notes = RoceFixtures.notes(name);
    List<CapturedFrame> frames = RoceFixtures.capture(name).frames();
    assertThat(frames).hasSameSizeAs(notes);
    for (int i = 0; i < notes.size(); i++) {
      checkFields(frames.get(i), notes.get(i));
    }
  }

  private static void checkFields(CapturedFrame captured, String[] note) {
    NativeFrame bytes = NativeFrame.of(captured.bytes());
    RoceFrame frame = new RoceFrame();
    assertThat(frame.parse(bytes.address(), bytes.bytes())).isEqualTo(RoceFrame.Verdict.ROCE);
    Deque<String> words = new ArrayDeque<>(Arrays.asList(note));
    assertThat(captured.number()).isEqualTo(Integer.parseInt(words.pop()));
    assertThat(words.pop()).endsWith("000"); // microseconds since the first frame
    assertThat(frame.source()).hasToString(words.pop());
    assertThat(UdpHeader.sourcePort(frame.udp)).isEqualTo(Integer.parseInt(words.pop()));
    assertThat(Ipv4Header.identification(frame.ip)).isEqualTo(Integer.decode(words.pop()));
    assertThat(frame.opcode).isEqualTo(Integer.parseInt(words.pop()));
    assertThat(Bth.destination(frame.bth)).isEqualTo(Integer.decode(words.pop()));
    assertThat(Bth.psn(frame.bth)).isEqualTo(Integer.parseInt(words.pop()));
    assertThat(Bth.isAckRequested(frame.bth)).isEqualTo(words.pop().equals("1"));
    assertThat(Bth.padCount(frame.bth)).isEqualTo(Integer.parseInt(words.pop()));
    assertThat(Bth.isSolicited(frame.bth)).isEqualTo(words.pop().equals("1"));
    checkExtended(frame, words);
    assertThat(BigEndian.getInt(frame.icrc)).isEqualTo(Integer.parseUnsignedInt(hex(words), 16));
    assertThat(words).isEmpty();
    assertThat(Ipv4Header.isChecksumRight(frame.ip)).isTrue();
    assertThat(Ipv4Header.dontFragment(frame.ip)).isTrue();
  }

  private static void checkExtended(RoceFrame frame, Deque<String> words) {
    if ((frame.headers & BthOpcode.RETH) != 0) {
      long reth = frame.header(BthOpcode.RETH);
      assertThat(Reth.virtualAddress(reth)).isEqualTo(Long.parseUnsignedLong(hex(words), 16));
      assertThat(Reth.rkey(reth)).isEqualTo(Integer.parseUnsignedInt(hex(words), 16));
      assertThat(Reth.length(reth)).isEqualTo(Integer.parseInt(words.pop()));
    }
    if ((frame.headers & BthOpcode.ATOMIC_ETH) != 0) {
      long atomic = frame.header(BthOpcode.ATOMIC_ETH);
      assertThat(AtomicEth.virtualAddress(atomic))
          .isEqualTo(Long.parseUnsignedLong(hex(words), 16));
      assertThat(AtomicEth.rkey(atomic)).isEqualTo(Integer.parseUnsignedInt(hex(words), 16));
      assertThat(AtomicEth.swapAdd(atomic)).isEqualTo(Long.parseUnsignedLong(words.pop()));
      assertThat(AtomicEth.compare(atomic)).isEqualTo(Long.parseUnsignedLong(words.pop()));
    }
    if ((frame.headers & BthOpcode.IMM_DT) != 0) {
      assertThat(ImmDt.immediate(frame.header(BthOpcode.IMM_DT)))
          .isEqualTo(Integer.parseUnsignedInt(words.pop(), 16));
    }
    if ((frame.headers & BthOpcode.AETH) != 0) {
      long aeth = frame.header(BthOpcode.AETH);
      assertThat(Aeth.syndrome(aeth)).isEqualTo(Integer.parseInt(words.pop()));
      assertThat(Aeth.msn(aeth)).isEqualTo(Integer.parseInt(words.pop()));
    }
    if ((frame.headers & BthOpcode.ATOMIC_ACK_ETH) != 0) {
      assertThat(AtomicAckEth.original(frame.header(BthOpcode.ATOMIC_ACK_ETH)))
          .isEqualTo(Long.parseUnsignedLong(words.pop()));
    }
  }

  private static String hex(Deque<String> words) {
    return words.pop().substring("0x".length());
  }

  @ParameterizedTest
  @MethodSource("all")
  void every_frame_made_anew_from_its_fields_has_the_same_bytes(String name) {
    Icrc icrc = new Icrc();
    for (CapturedFrame captured : RoceFixtures.capture(name).frames()) {
      NativeFrame original = NativeFrame.of(captured.bytes());
      RoceFrame from = new RoceFrame();
      if (from.parse(original.address(), original.bytes()) == RoceFrame.Verdict.OTHER) {
        continue;
      }
      NativeFrame made = NativeFrame.empty(captured.bytes().length);
      remake(from, made.address());
      RoceFrame to = new RoceFrame();
      assertThat(to.parse(made.address(), made.bytes())).isEqualTo(RoceFrame.Verdict.ROCE);
      Icrc.write(to.icrc, icrc.of(to));
      assertThat(made.toArray()).as("frame %d", captured.number()).isEqualTo(captured.bytes());
    }
  }

  private static void remake(RoceFrame from, long to) {
    int transport = (int) (from.icrc - from.bth) + Icrc.BYTES;
    RawMemory.copy(from.ethernet, to, EthernetHeader.BYTES);
    long ip = to + EthernetHeader.BYTES;
    Ipv4Header.write(
        ip,
        from.trafficClass(),
        Ipv4Header.BYTES + UdpHeader.BYTES + transport,
        Ipv4Header.identification(from.ip),
        Ipv4Header.ttl(from.ip),
        Ipv4Header.source(from.ip),
        Ipv4Header.destination(from.ip));
    long udp = ip + Ipv4Header.BYTES;
    UdpHeader.write(
        udp, UdpHeader.sourcePort(from.udp), UdpHeader.ROCE_PORT, UdpHeader.BYTES + transport);
    long bth = udp + UdpHeader.BYTES;
    Bth.write(
        bth,
        from.opcode,
        Bth.isSolicited(from.bth),
        Bth.padCount(from.bth),
        Bth.destination(from.bth),
        Bth.isAckRequested(from.bth),
        Bth.psn(from.bth));
    long at = bth + Bth.BYTES;
    if ((from.headers & BthOpcode.RETH) != 0) {
      long reth = from.header(BthOpcode.RETH);
      Reth.write(at, Reth.virtualAddress(reth), Reth.rkey(reth), Reth.length(reth));
      at += Reth.BYTES;
    }
    if ((from.headers & BthOpcode.ATOMIC_ETH) != 0) {
      long a = from.extended;
      AtomicEth.write(
          at,
          AtomicEth.virtualAddress(a),
          AtomicEth.rkey(a),
          AtomicEth.swapAdd(a),
          AtomicEth.compare(a));
      at += AtomicEth.BYTES;
    }
    if ((from.headers & BthOpcode.AETH) != 0) {
      long aeth = from.header(BthOpcode.AETH);
      Aeth.write(at, Aeth.syndrome(aeth), Aeth.msn(aeth));
      at += Aeth.BYTES;
    }
    if ((from.headers & BthOpcode.ATOMIC_ACK_ETH) != 0) {
      AtomicAckEth.write(at, AtomicAckEth.original(from.header(BthOpcode.ATOMIC_ACK_ETH)));
      at += AtomicAckEth.BYTES;
    }
    if ((from.headers & BthOpcode.IMM_DT) != 0) {
      ImmDt.write(at, ImmDt.immediate(from.header(BthOpcode.IMM_DT)));
      at += ImmDt.BYTES;
    }
    RawMemory.copy(from.payload, at, from.payloadBytes);
  }

  private static List<String> problems(String name, int flows) {
    FlowChecker checker = new FlowChecker();
    List<String> problems = new ArrayList<>();
    for (CapturedFrame captured : RoceFixtures.capture(name).frames()) {
      NativeFrame bytes = NativeFrame.of(captured.bytes());
      RoceFrame frame = new RoceFrame();
      if (frame.parse(bytes.address(), bytes.bytes()) == RoceFrame.Verdict.ROCE) {
        checker
            .check(frame, true)
            .problems()
            .forEach(problem -> problems.add("frame " + captured.number() + ": " + problem));
      }
    }
    assertThat(checker.flows()).isEqualTo(flows);
    return problems;
  }

  @ParameterizedTest
  @MethodSource("noted")
  void no_capture_breaks_a_rule(String name) {
    assertThat(problems(name, 1)).isEmpty();
  }

  @Test
  void the_gap_that_was_made_on_purpose_is_all_that_is_wrong_with_both_directions() {
    assertThat(problems("interop", 2))
        .singleElement()
        .asString()
        .startsWith("frame 16: PSN")
        .endsWith("missing");
  }

  @ParameterizedTest
  @MethodSource("noted")
  void the_source_port_is_the_one_that_linux_computes(String name) {
    RoceFrame frame = new RoceFrame();
    List<CapturedFrame> frames = RoceFixtures.capture(name).frames();
    NativeFrame request = NativeFrame.of(frames.getFirst().bytes());
    frame.parse(request.address(), request.bytes());
    int responder = Bth.destination(frame.bth);
    int port = UdpHeader.sourcePort(frame.udp);
    NativeFrame answer = NativeFrame.of(frames.getLast().bytes());
    frame.parse(answer.address(), answer.bytes());
    int requester = Bth.destination(frame.bth);
    assertThat(UdpHeader.connectionSourcePort(requester, responder)).isEqualTo(port);
    assertThat(UdpHeader.connectionSourcePort(responder, requester)).isEqualTo(port);
  }
}
