package dev.doorbell.softhca.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.contract.EndpointWqe;
import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.core.pcap.CaptureReader;
import dev.doorbell.core.pcap.CapturedFrame;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.core.roce.RoceFrame;
import dev.doorbell.core.roce.generated.AtomicEth;
import dev.doorbell.core.roce.generated.Bth;
import dev.doorbell.core.roce.generated.ImmDt;
import dev.doorbell.core.roce.generated.Reth;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.SoftWorld;
import dev.doorbell.softhca.device.SoftHcaOptions;
import dev.doorbell.softhca.packet.Packet;
import dev.doorbell.softhca.packet.Wire;
import dev.doorbell.softhca.packet.Wire.Route;
import dev.doorbell.softhca.packet.Wire.Station;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The flows that Linux captured, played again with our HCA in the place of one side: it has to send
 * what Linux sent, byte for byte from the base transport header to the padding.
 *
 * <p>What an HCA chooses for itself - its queue pair's number, keys, addresses, its first sequence
 * number - is translated where it differs from Linux's choice.
 */
class CaptureFlowTest {
  private static final Path CAPTURES =
      Path.of("..", "core", "src", "test", "resources", "dev", "doorbell", "core", "roce");

  /** Where both sides' memory was, and what is in it at what offset. */
  private static final long RESPONDER_MEMORY = 0x2000_0000L;

  private static final int RESPONDER_DATA = 0x1000;
  private static final String REQUESTER = "10.77.0.1";
  private static final int FIRST_PSN = 0xaa10;

  private final Tape tape = new Tape();
  private final MemorySegment memory = Arena.ofAuto().allocate(1 << 16);
  private SoftWorld world;
  private SoftHca hca;
  private Endpoint end;

  /** A wire whose other end is a tape. */
  private static final class Tape extends Wire {
    final Deque<byte[]> sent = new ArrayDeque<>();
    private final MemorySegment scratch = Arena.ofAuto().allocate(RoceFrame.MAX_BYTES);

    @Override
    public Route route(Station from, String to) {
      return new Route() {
        @Override
        public void transmit(Packet packet) {
          byte[] bytes = new byte[PacketCodec.encode(packet, scratch.address())];
          RawMemory.copyOut(scratch.address(), MemorySegment.ofArray(bytes), 0, bytes.length);
          sent.add(bytes);
          packet.pool.release(packet);
        }
      };
    }

    @Override
    public Route route(Station from, long gidHigh, long gidLow) {
      return route(from, "");
    }

    @Override
    public long[] gid(String name) {
      return new long[2];
    }

    @Override
    public void leave(Station station) {
      // A tape does not mind.
    }

    @Override
    public String members() {
      return "a tape";
    }
  }

  /** One packet of a capture: its bytes from the BTH to the padding, and who sent it. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Recorded(int number, boolean request, byte[] bytes, RoceFrame frame) {
    int psn() {
      return Bth.psn(frame.bth);
    }
  }

  @BeforeEach
  void open() {
    world =
        new SoftWorld(
            new DirectFabric(AddressSpace.reserve(1L << 30), 0),
            SoftHcaOptions.DEFAULT,
            (station, side) -> {
              if (side == 0) {
                station.plug(tape);
              }
            });
    hca = world.soft(0);
    end = new Endpoint(world, 0, Endpoint.Shape.usual());
  }

  @AfterEach
  void close() {
    world.close();
  }

  private List<Recorded> load(String name) throws Exception {
    List<Recorded> packets = new ArrayList<>();
    long at = memory.address();
    for (CapturedFrame captured : CaptureReader.read(CAPTURES.resolve(name + ".pcapng")).frames()) {
      byte[] bytes = captured.bytes();
      RawMemory.copyIn(MemorySegment.ofArray(bytes), 0, at, bytes.length);
      RoceFrame frame = new RoceFrame();
      assertThat(frame.parse(at, bytes.length)).isEqualTo(RoceFrame.Verdict.ROCE);
      byte[] transport = new byte[(int) (frame.icrc - frame.bth)];
      RawMemory.copyOut(frame.bth, MemorySegment.ofArray(transport), 0, transport.length);
      boolean request = frame.source().toString().equals(REQUESTER);
      packets.add(new Recorded(captured.number(), request, transport, frame));
      at += (bytes.length + 64) & -64;
    }
    return packets;
  }

  /** Frames that were sent and lost: the receiver never saw them. */
  private static boolean wasLost(String name, Recorded packet) {
    return (name.equals("nak_seq") && packet.number == 2)
        || (name.equals("timeout") && packet.number == 1);
  }

  private Packet packet(RoceFrame frame) {
    Packet packet = Objects.requireNonNull(hca.packets().take());
    PacketDecoder.decode(frame, packet);
    packet.destination = end.queuePair.number();
    return packet;
  }

  private static int destination(List<Recorded> packets, boolean ofRequests) {
    return packets.stream()
        .filter(packet -> packet.request == ofRequests)
        .mapToInt(packet -> Bth.destination(packet.frame.bth))
        .findFirst()
        .orElseThrow();
  }

  private static ConnectionAttributes attributes(String name) {
    return new ConnectionAttributes(17, 7, name.equals("rnr_exceeded") ? 2 : 7, 14, 4, 4, 0);
  }

  private static int mtu(String name) {
    return name.equals("write_4096") ? 4096 : 1024;
  }

  private static int firstPsn(String name) {
    return name.startsWith("wrap") ? 0xfffffe : FIRST_PSN;
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  private byte[] next(Recorded expected) {
    assertThat(world.runUntil(() -> !tape.sent.isEmpty()))
        .as("frame %d is sent", expected.number)
        .isTrue();
    return tape.sent.remove();
  }

  private static List<String> names() {
    return List.of(
        "fetch_add",
        "nak_access",
        "nak_seq",
        "read",
        "rnr",
        "rnr_exceeded",
        "send",
        "send_imm",
        "timeout",
        "two_writes",
        "wrap_write",
        "write",
        "write_4096",
        "write_imm",
        "write_small",
        "write_zero");
  }

  @ParameterizedTest
  @MethodSource("names")
  void our_responder_answers_as_linux_did(String name) throws Exception {
    List<Recorded> packets = load(name);
    int linuxKey = rkey(name);
    end.queuePair.connect(
        new QueuePairAddress("tape", destination(packets, false), firstPsn(name), mtu(name)),
        Endpoint.ALL,
        attributes(name));
    byte[] data = new byte[4_096];
    for (int i = 0; i < data.length; i++) {
      data[i] = (byte) (i % 241);
    }
    end.buffer.putBytes(RESPONDER_DATA, data);
    if (name.equals("fetch_add")) {
      end.buffer.putLong(RESPONDER_DATA, 0x1111_1111_2222_2222L);
    }
    if (!name.startsWith("rnr")) {
      end.postReceive(0x8000, 4_096);
    }
    for (Recorded recorded : packets) {
      if (wasLost(name, recorded)) {
        continue;
      }
      if (!recorded.request) {
        assertThat(hex(next(recorded)))
            .as("frame %d", recorded.number)
            .isEqualTo(hex(recorded.bytes));
        continue;
      }
      if (name.equals("rnr") && recorded.number == 5) {
        end.postReceive(0x8000, 4_096);
      }
      Packet packet = packet(recorded.frame);
      packet.remoteAddress = end.address(packet.remoteAddress - RESPONDER_MEMORY);
      packet.rkey = packet.rkey == linuxKey ? end.region.rkey() : 0x7fff_ff00;
      hca.deliver(packet);
      world.settle();
    }
    world.settle();
    assertThat(tape.sent).isEmpty();
    if (name.equals("fetch_add")) {
      assertThat(end.buffer.getLong(RESPONDER_DATA)).isEqualTo(0x1111_1111_2222_2227L);
    }
  }

  private static int rkey(String name) throws Exception {
    String notes = java.nio.file.Files.readString(CAPTURES.resolve(name + ".txt"));
    String key = notes.substring(notes.indexOf("rkey 0x") + "rkey 0x".length()).split("\\s", 2)[0];
    return Integer.parseUnsignedInt(key, 16);
  }

  @ParameterizedTest
  @MethodSource("names")
  void our_requester_asks_as_linux_did(String name) throws Exception {
    List<Recorded> packets = load(name);
    end.queuePair.connect(
        new QueuePairAddress("tape", destination(packets, true), 0xbb20, mtu(name)),
        Endpoint.ALL,
        attributes(name));
    int shift = end.queuePair.address().startPsn() - firstPsn(name);
    byte[] data = new byte[8_192];
    for (int i = 0; i < data.length; i++) {
      data[i] = (byte) (i % 251);
    }
    end.buffer.putBytes(0, data);
    int highest = firstPsn(name) - 1;
    for (Recorded recorded : packets) {
      if (!recorded.request) {
        Packet packet = packet(recorded.frame);
        packet.psn = (packet.psn + shift) & Bth.MASK_24;
        hca.deliver(packet);
        world.settle();
        continue;
      }
      boolean first =
          !BthOpcode.hasPayload(recorded.frame.opcode) || BthOpcode.isFirst(recorded.frame.opcode);
      if (first && ((recorded.psn() - highest) << 8) > 0) {
        post(name, packets, recorded);
      }
      highest = recorded.psn();
      byte[] sent = next(recorded);
      movePsn(sent, -shift);
      assertThat(hex(sent)).as("frame %d", recorded.number).isEqualTo(hex(recorded.bytes));
    }
    Endpoint.Completion completion = end.pollSend();
    int syndrome =
        switch (name) {
          case "nak_access" -> Syndrome.REMOTE_ACCESS;
          case "rnr_exceeded" -> Syndrome.RNR_RETRY_EXCEEDED;
          default -> 0;
        };
    assertThat(completion.syndrome()).isEqualTo(syndrome);
    assertThat(completion.opcode()).isEqualTo(syndrome == 0 ? Cqe.REQUESTER : Cqe.REQUESTER_ERROR);
    assertThat(tape.sent).isEmpty();
  }

  private static void movePsn(byte[] bytes, int by) {
    int at = Bth.PSN_OFFSET + 1;
    int psn = (bytes[at] & 0xff) << 16 | (bytes[at + 1] & 0xff) << 8 | (bytes[at + 2] & 0xff);
    int moved = psn + by;
    bytes[at] = (byte) (moved >> 16);
    bytes[at + 1] = (byte) (moved >> 8);
    bytes[at + 2] = (byte) moved;
  }

  /** Posts the request whose first packet is {@code first}; its payload starts our buffer. */
  private void post(String name, List<Recorded> packets, Recorded first) {
    RoceFrame frame = first.frame;
    boolean last = packets.stream().anyMatch(packet -> carriesImmediate(packet.frame));
    int immediate =
        packets.stream()
            .filter(packet -> carriesImmediate(packet.frame))
            .mapToInt(packet -> ImmDt.immediate(packet.frame.header(BthOpcode.IMM_DT)))
            .findFirst()
            .orElse(0);
    if ((frame.headers & BthOpcode.ATOMIC_ETH) != 0) {
      end.wqe(Opcode.ATOMIC_FA)
          .remote(AtomicEth.virtualAddress(frame.extended), AtomicEth.rkey(frame.extended))
          .atomic(AtomicEth.swapAdd(frame.extended), AtomicEth.compare(frame.extended))
          .local(0x8000, Long.BYTES)
          .post();
      return;
    }
    if ((frame.headers & BthOpcode.RETH) == 0) {
      int bytes = name.equals("send") ? 2_500 : frame.payloadBytes;
      end.wqe(last ? Opcode.SEND_IMM : Opcode.SEND).immediate(immediate).local(0, bytes).post();
      return;
    }
    long reth = frame.header(BthOpcode.RETH);
    boolean read = frame.opcode == BthOpcode.READ_REQUEST;
    int opcode = read ? Opcode.RDMA_READ : last ? Opcode.RDMA_WRITE_IMM : Opcode.RDMA_WRITE;
    EndpointWqe wqe =
        end.wqe(opcode).immediate(immediate).remote(Reth.virtualAddress(reth), Reth.rkey(reth));
    if (Reth.length(reth) > 0) {
      wqe = wqe.local(read ? 0x8000 : payload(name, first), Reth.length(reth));
    }
    wqe.post();
  }

  private static int payload(String name, Recorded first) {
    return name.equals("two_writes") && first.number > 1 ? secondWrite(first) : 0;
  }

  /** Where in the pattern the second write's payload starts, by its first byte. */
  private static int secondWrite(Recorded first) {
    return RawMemory.getByte(first.frame.payload) & 0xff;
  }

  private static boolean carriesImmediate(RoceFrame frame) {
    return (frame.headers & BthOpcode.IMM_DT) != 0;
  }
}
