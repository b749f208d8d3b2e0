package dev.doorbell.softhca.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.hca.AccessRight;
import dev.doorbell.core.hca.CompletionQueue;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.hca.QueuePair;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.hca.QueuePairAttributes;
import dev.doorbell.core.hca.QueuePairState;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.BigEndian;
import dev.doorbell.core.memory.FabricMemory;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.MemoryProvider;
import dev.doorbell.core.roce.Aeth;
import dev.doorbell.core.roce.BthOpcode;
import dev.doorbell.core.roce.Gid;
import dev.doorbell.core.roce.Icrc;
import dev.doorbell.core.roce.Ipv4Header;
import dev.doorbell.core.roce.RoceFrame;
import dev.doorbell.core.roce.UdpHeader;
import dev.doorbell.core.roce.generated.AtomicEth;
import dev.doorbell.core.roce.generated.Bth;
import dev.doorbell.core.roce.generated.Reth;
import dev.doorbell.softhca.SoftHca;
import dev.doorbell.softhca.wire.RoceWire.PeerPort;
import dev.doorbell.softhca.wire.RoceWire.WireCounters;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Datagrams of a connected peer to a software HCA over loopback: from the base transport header on,
 * with the ICRC made right, so that they reach the transport. A region of another protection domain
 * and the bytes beside the peer's own region must stay as they are.
 */
class HostileDatagramsTest {
  private static final long SEED = Long.getLong("doorbell.fuzz.seed", 17);
  private static final int INPUTS = Integer.getInteger("doorbell.fuzz.inputs", 200);
  private static final int MOST_BYTES = 9000;
  private static final int REGION = 4096;
  private static final int PSN = 0x1000;
  private static final int PEER_QPN = 0x77;
  private static final byte UNTOUCHED = 0x5a;
  private static final long ARRIVAL_NANOS = 5_000_000_000L;
  private static final int STEPS = 4;
  private static final int BLOCKS = 16;

  private static final Set<AccessRight> RIGHTS =
      EnumSet.of(
          AccessRight.LOCAL_WRITE,
          AccessRight.REMOTE_WRITE,
          AccessRight.REMOTE_READ,
          AccessRight.REMOTE_ATOMIC);

  /** A timeout of 4.3 s, eight times. */
  private static final ConnectionAttributes PATIENT =
      new ConnectionAttributes(20, 7, 7, 12, 16, 16, 0);

  private final DirectFabric fabric = new DirectFabric(AddressSpace.reserve(1L << 28), 0);
  private final DatagramChannel peer;
  private final SocketAddress target;
  private final RoceWire wire;
  private final SoftHca hca;
  private final Memory own;
  private final Memory secret;
  private final MemoryRegion ownRegion;
  private final MemoryRegion secretRegion;
  private final CompletionQueue completions;
  private final QueuePair queuePair;
  private final QueuePairAddress peerAddress;
  private final MemorySegment frameMemory = Arena.ofAuto().allocate(1 << 14, Long.BYTES);
  private final ByteBuffer answers = ByteBuffer.allocateDirect(1 << 16);
  private final RoceFrame frame = new RoceFrame(0);
  private final Icrc icrc = new Icrc();

  HostileDatagramsTest() throws Exception {
    InetAddress loopback = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
    peer = DatagramChannel.open().bind(new InetSocketAddress(loopback, 0));
    peer.configureBlocking(false);
    int port = ((InetSocketAddress) peer.getLocalAddress()).getPort();
    Locus nic = Locus.nic(0, 0);
    wire = RoceWire.udp(fabric, nic, Gid.parse("127.0.0.1"), 0, WireFaults.NONE, PeerPort.STRICT);
    target = new InetSocketAddress(loopback, wire.port());
    hca = new SoftHca(fabric, nic, "target");
    wire.join(hca);
    MemoryProvider memory = FabricMemory.of(fabric.memory(), 0);
    ProtectionDomain domain = hca.allocateProtectionDomain();
    own = filled(memory, 3 * REGION);
    ownRegion = domain.register(own, REGION, REGION, RIGHTS);
    secret = filled(memory, REGION);
    secretRegion = hca.allocateProtectionDomain().register(secret, RIGHTS);
    completions =
        domain.createCompletionQueue(
            CompletionQueueAttributes.ring(BLOCKS, MemoryKind.HOST), memory);
    queuePair =
        domain.createQueuePair(
            new QueuePairAttributes(BLOCKS, 0, completions, null, MemoryKind.HOST, MemoryKind.HOST),
            memory);
    peerAddress = new QueuePairAddress("127.0.0.1:" + port, PEER_QPN, PSN, REGION);
  }

  private static Memory filled(MemoryProvider memory, int bytes) {
    Memory made = memory.allocate(MemoryKind.HOST, bytes, "fuzz");
    made.fill(0, bytes, UNTOUCHED);
    return made;
  }

  @Test
  void packets_change_nothing_that_their_sender_has_no_right_to() throws IOException {
    Random random = new Random(SEED);
    List<byte[]> seeds = seeds();
    List<byte[]> words = dictionary();
    boolean accepted = false;
    for (byte[] seed : seeds) {
      accepted |= read(seed);
    }
    assertThat(accepted).isTrue();
    for (int i = 0; i < INPUTS; i++) {
      byte[] input = seeds.get(random.nextInt(seeds.size())).clone();
      for (int change = random.nextInt(4); change >= 0; change--) {
        byte[] word = words.get(random.nextInt(words.size()));
        int at = random.nextInt(input.length);
        if (random.nextBoolean()) {
          input[at] = (byte) random.nextInt(256);
        } else {
          System.arraycopy(word, 0, input, at, Math.min(word.length, input.length - at));
        }
      }
      read(input);
    }
  }

  private List<byte[]> seeds() {
    List<byte[]> seeds = new ArrayList<>();
    long mine = ownRegion.address();
    for (MemoryRegion region : List.of(ownRegion, secretRegion)) {
      long at = region.address();
      int key = region.rkey();
      seeds.add(request(BthOpcode.WRITE_ONLY, at, key, 64, 64));
      seeds.add(request(BthOpcode.WRITE_FIRST, at, key, REGION, 1024));
      seeds.add(request(BthOpcode.READ_REQUEST, at, key, 256, 0));
      seeds.add(atomic(BthOpcode.FETCH_ADD, at, key));
      seeds.add(atomic(BthOpcode.COMPARE_SWAP, at, key));
    }
    seeds.add(request(BthOpcode.WRITE_ONLY, mine + REGION - 32, ownRegion.rkey(), 64, 64));
    seeds.add(request(BthOpcode.WRITE_ONLY, mine - 32, ownRegion.rkey(), 64, 64));
    long bth = start(BthOpcode.ACKNOWLEDGE);
    Aeth.write(bth + Bth.BYTES, Aeth.ACK, 0);
    seeds.add(bytes(Bth.BYTES + 4));
    return seeds;
  }

  private List<byte[]> dictionary() {
    List<byte[]> words = new ArrayList<>();
    for (MemoryRegion region : List.of(ownRegion, secretRegion)) {
      words.add(ByteBuffer.allocate(Long.BYTES).putLong(region.address()).array());
      words.add(ByteBuffer.allocate(Integer.BYTES).putInt(region.rkey()).array());
    }
    words.add(new byte[] {0, 0, 0x10, 0});
    words.add(new byte[] {-1, -1, -1, -1});
    return words;
  }

  private long start(int opcode) {
    long bth = frameMemory.address();
    Bth.write(bth, opcode, false, 0, queuePair.number(), true, PSN);
    return bth;
  }

  private byte[] bytes(int count) {
    return frameMemory.asSlice(0, count).toArray(ValueLayout.JAVA_BYTE);
  }

  private byte[] request(int opcode, long address, int key, int length, int payload) {
    long bth = start(opcode);
    Reth.write(bth + Bth.BYTES, address, key, length);
    int headers = Bth.BYTES + Reth.BYTES;
    frameMemory.asSlice(headers, payload).fill((byte) 0x66);
    return bytes(headers + payload);
  }

  private byte[] atomic(int opcode, long address, int key) {
    long bth = start(opcode);
    AtomicEth.write(bth + Bth.BYTES, address, key, 1, 0);
    return bytes(Bth.BYTES + AtomicEth.BYTES);
  }

  /** Returns whether the connection stands; fails where memory changed. */
  private boolean read(byte[] input) throws IOException {
    queuePair.toReset();
    queuePair.connect(peerAddress, RIGHTS, PATIENT);
    long before = arrived();
    peer.send(datagram(input), target);
    if (fabric.run(() -> arrived() > before, ARRIVAL_NANOS) != RunOutcome.DONE) {
      throw new IOException("a datagram over loopback did not arrive");
    }
    int[] steps = {0};
    fabric.run(() -> ++steps[0] > STEPS, ARRIVAL_NANOS);
    while (peer.receive(answers.clear()) != null) {
      // Answers of the HCA; they would fill the socket.
    }
    assertThat(isUntouched(secret, 0) && isUntouched(own, 0) && isUntouched(own, 2L * REGION))
        .as("seed %d: %s", SEED, HexFormat.of().formatHex(input))
        .isTrue();
    return queuePair.state() == QueuePairState.RTS;
  }

  private long arrived() {
    WireCounters counters = wire.counters();
    return counters.framesIn() + counters.badIcrc() + counters.malformed() + counters.notForUs();
  }

  private static boolean isUntouched(Memory memory, long from) {
    for (byte each : memory.getBytes(from, REGION)) {
      if (each != UNTOUCHED) {
        return false;
      }
    }
    return true;
  }

  /** The input with the ICRC that a packet of it has, if it is one. */
  private ByteBuffer datagram(byte[] input) throws IOException {
    int room = Ipv4Header.BYTES + UdpHeader.BYTES;
    int length = Math.min(input.length, MOST_BYTES);
    int transport = length + Icrc.BYTES;
    MemorySegment.copy(input, 0, frameMemory, ValueLayout.JAVA_BYTE, room, length);
    long ip = frameMemory.address();
    int local = ((InetSocketAddress) peer.getLocalAddress()).getPort();
    int address = Gid.parse("127.0.0.1").ipv4();
    Ipv4Header.write(ip, 0, room + transport, 0, 64, address, address);
    UdpHeader.write(ip + Ipv4Header.BYTES, local, wire.port(), UdpHeader.BYTES + transport);
    BigEndian.putInt(ip + room + length, 0);
    if (frame.parseDatagram(ip, false, ip + room, transport) == RoceFrame.Verdict.ROCE) {
      Icrc.write(frame.icrc, icrc.of(frame));
    }
    return frameMemory.asSlice(room, transport).asByteBuffer();
  }

  @AfterEach
  void close() {
    queuePair.close();
    completions.close();
    hca.close();
    fabric.close();
    try {
      peer.close();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
