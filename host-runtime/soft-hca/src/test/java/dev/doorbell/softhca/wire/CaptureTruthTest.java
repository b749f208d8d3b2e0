package dev.doorbell.softhca.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fault.Fault;
import dev.doorbell.core.fault.FaultAction;
import dev.doorbell.core.fault.FaultCount;
import dev.doorbell.core.fault.FaultEvent;
import dev.doorbell.core.fault.FaultInjector;
import dev.doorbell.core.fault.FaultPlan;
import dev.doorbell.core.fault.FaultTrigger;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.pcap.CaptureReader;
import dev.doorbell.core.pcap.CapturedFrame;
import dev.doorbell.core.roce.EthernetHeader;
import dev.doorbell.core.roce.FlowChecker;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.roce.InternetChecksum;
import dev.doorbell.core.roce.Ipv6Header;
import dev.doorbell.core.roce.RoceFrame;
import dev.doorbell.core.roce.UdpHeader;
import dev.doorbell.softhca.SoftWorld;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.packet.PortCounters.Counter;
import dev.doorbell.softhca.queuepair.SoftQueuePair;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Captures of devices of one process show what their packets would be on a cable. */
class CaptureTruthTest {
  private static final Gid[] IPV4 = {Gid.ofIpv4(0x7f00_0001), Gid.ofIpv4(0x7f00_0002)};
  private static final int BYTES = 20_000;

  /** One loss in the middle of each 60 packets, behind which 30 are sent again. */
  private static final int EVERY = 90;

  private static final int LOSSES = 4;

  /** 67 ms until an ACK is missed. */
  private static final ConnectionAttributes QUICK =
      new ConnectionAttributes(14, 7, 7, 12, 16, 16, 0);

  @TempDir private Path folder;

  /** Two devices on a captured wire, connected. */
  private final class Scene implements AutoCloseable {
    final Path file = folder.resolve("wire.pcapng");
    final SoftWorld world;
    final WireCapture capture;
    final Endpoint a;
    final Endpoint b;

    Scene(boolean ipv4) throws Exception {
      InProcessWire wire = new InProcessWire();
      world =
          new SoftWorld(
              new DirectFabric(AddressSpace.reserve(1L << 28), 0), SoftHcaOptions.DEFAULT, wire);
      capture = WireCapture.create(file, "", world.fabric.basis(), world.fabric.now());
      wire.capture(capture);
      a = new Endpoint(world, 0, Endpoint.Shape.usual());
      b = new Endpoint(world, 1, Endpoint.Shape.usual());
      Endpoint.connect(a, b, QUICK);
      if (ipv4) {
        ((SoftQueuePair) a.queuePair).between(IPV4[0], IPV4[1]);
        ((SoftQueuePair) b.queuePair).between(IPV4[1], IPV4[0]);
      }
    }

    /** Applies a fault to {@value #LOSSES} packets of device {@code side}, and writes. */
    FaultCount write(int side, FaultAction action, FaultEvent event) {
      Fault fault =
          Fault.of(action, event, new FaultTrigger(EVERY / 3, Long.MAX_VALUE, EVERY, 1, 0, LOSSES));
      FaultPlan plan = new FaultPlan(1, List.of(fault));
      FaultInjector injector = plan.bind(side, 0, world.fabric.now());
      world.soft(side).inject(injector);
      for (int round = 0; round < LOSSES; round++) {
        write(12);
      }
      return FaultCount.total(plan, List.of(injector)).getFirst();
    }

    void write(int times) {
      for (int i = 0; i < times; i++) {
        a.rdmaWrite(b, 0, 500_000, BYTES).write();
      }
      a.record();
      a.ring();
      for (int i = 0; i < times; i++) {
        Endpoint.Completion completion = a.pollSend();
        assertThat(completion.isError()).as("%s", completion).isFalse();
      }
      world.settle();
    }

    List<CapturedFrame> frames() throws Exception {
      capture.close();
      return CaptureReader.read(file).frames();
    }

    @Override
    public void close() {
      capture.close();
      world.close();
    }
  }

  private static MemorySegment copy(CapturedFrame frame) {
    MemorySegment copy = Arena.ofAuto().allocate(frame.bytes().length + 64L, 64);
    MemorySegment.copy(MemorySegment.ofArray(frame.bytes()), 0, copy, 0, frame.bytes().length);
    return copy;
  }

  private static int type(CapturedFrame frame) {
    return (frame.bytes()[12] & 0xff) << 8 | (frame.bytes()[13] & 0xff);
  }

  @Test
  void connections_between_ipv4_gids_are_frames_of_ipv4() throws Exception {
    try (Scene scene = new Scene(true)) {
      scene.write(1);
      List<CapturedFrame> frames = scene.frames();
      assertThat(frames).hasSizeGreaterThan(4);
      FlowChecker checker = new FlowChecker();
      for (CapturedFrame frame : frames) {
        assertThat(type(frame)).isEqualTo(EthernetHeader.IPV4);
        MemorySegment copy = copy(frame);
        RoceFrame parsed = new RoceFrame();
        assertThat(parsed.parse(copy.address(), frame.bytes().length))
            .isEqualTo(RoceFrame.Verdict.ROCE);
        checker.check(parsed, true);
      }
      assertThat(checker.problems()).isZero();
    }
  }

  @Test
  void datagrams_of_ipv6_have_the_checksum_that_it_requires() throws Exception {
    try (Scene scene = new Scene(false)) {
      scene.write(1);
      for (CapturedFrame frame : scene.frames()) {
        assertThat(type(frame)).isEqualTo(EthernetHeader.IPV6);
        long ip = copy(frame).address() + EthernetHeader.BYTES;
        int bytes = UdpHeader.length(ip + Ipv6Header.BYTES);
        assertThat(UdpHeader.checksum(ip + Ipv6Header.BYTES)).isNotZero();
        long sum = InternetChecksum.sum(Ipv6Header.UDP + bytes, ip + Ipv6Header.SOURCE_OFFSET, 32);
        sum = InternetChecksum.sum(sum, ip + Ipv6Header.BYTES, bytes);
        assertThat(InternetChecksum.finish(sum)).isZero();
      }
    }
  }

  /** Findings of our decoder, and faults that fired: as many, whichever fault. */
  private static int findings(List<CapturedFrame> frames) {
    FlowChecker checker = new FlowChecker();
    int marks = 0;
    for (CapturedFrame frame : frames) {
      MemorySegment copy = copy(frame);
      RoceFrame parsed = new RoceFrame();
      parsed.parse(copy.address(), frame.bytes().length);
      boolean wrong = !checker.check(parsed, true).problems().isEmpty();
      marks += !frame.comment().isEmpty() && !wrong ? 1 : 0;
    }
    return checker.problems() + marks;
  }

  private static long marked(List<CapturedFrame> frames, String comment) {
    return frames.stream().filter(frame -> frame.comment().equals(comment)).count();
  }

  @Test
  void a_packet_that_never_left_is_missing_and_each_is_a_finding_and_an_error_of_sequence()
      throws Exception {
    try (Scene scene = new Scene(true)) {
      long fired = scene.write(0, FaultAction.LOSE, FaultEvent.PACKET_SENT).fired();
      assertThat(fired).isEqualTo(LOSSES);
      List<CapturedFrame> frames = scene.frames();
      assertThat(frames).allMatch(frame -> frame.comment().isEmpty());
      assertThat(findings(frames)).isEqualTo((int) fired);
      assertThat(scene.world.soft(0).counters().get(Counter.PACKET_SEQ_ERR)).isEqualTo(fired);
    }
  }

  @Test
  void a_packet_that_is_lost_on_arrival_is_marked() throws Exception {
    try (Scene scene = new Scene(true)) {
      long fired = scene.write(1, FaultAction.LOSE, FaultEvent.PACKET_RECEIVED).fired();
      assertThat(fired).isEqualTo(LOSSES);
      List<CapturedFrame> frames = scene.frames();
      assertThat(marked(frames, WireCapture.DROPPED)).isEqualTo(fired);
      assertThat(findings(frames)).isEqualTo((int) fired);
      assertThat(scene.world.soft(0).counters().get(Counter.PACKET_SEQ_ERR)).isEqualTo(fired);
      assertThat(scene.world.soft(1).counters().lost).isEqualTo(fired);
    }
  }

  @Test
  void a_packet_with_a_flipped_bit_is_there_with_a_wrong_checksum() throws Exception {
    try (Scene scene = new Scene(false)) {
      long fired = scene.write(0, FaultAction.CORRUPT, FaultEvent.PACKET_SENT).fired();
      assertThat(fired).isEqualTo(LOSSES);
      List<CapturedFrame> frames = scene.frames();
      assertThat(marked(frames, WireCapture.CORRUPT)).isEqualTo(fired);
      assertThat(findings(frames)).isEqualTo((int) fired);
      assertThat(scene.world.soft(1).counters().get(Counter.RX_ICRC_ENCAPSULATED)).isEqualTo(fired);
    }
  }

  @Test
  void a_capture_of_some_queue_pairs_holds_no_other_and_is_readable_while_it_runs()
      throws Exception {
    try (Scene scene = new Scene(true)) {
      scene.capture.only(Set.of(0xabc));
      scene.write(1);
      scene.capture.flush();
      assertThat(CaptureReader.read(scene.file).frames()).isEmpty();
      scene.capture.only(Set.of(scene.a.queuePair.number()));
      scene.write(1);
      scene.capture.flush();
      assertThat(CaptureReader.read(scene.file).frames()).hasSizeGreaterThan(4);
    }
  }
}
