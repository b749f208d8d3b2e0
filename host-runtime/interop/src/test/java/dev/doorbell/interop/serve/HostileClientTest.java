package dev.doorbell.interop.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.doorbell.core.fabric.DirectFabric;
import dev.doorbell.core.fabric.RunOutcome;
import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.hca.QueuePairAddress;
import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.queue.CommandEntry;
import dev.doorbell.interop.control.ControlClient;
import dev.doorbell.interop.control.ControlLine;
import dev.doorbell.proxy.HostPoster;
import dev.doorbell.proxy.ProxyPrices;
import dev.doorbell.softhca.DriverAccess;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** One client of a served HCA tries all it can against the memory of another one. */
class HostileClientTest {
  private static final long MINUTE = 60_000_000_000L;
  private static final int BYTES = 8192;
  private static final byte SECRET = 0x5a;
  private static final byte FORGED = 0x66;
  private static final int BLOCKS = 16;

  private final AtomicBoolean stop = new AtomicBoolean();
  private final List<AutoCloseable> open = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // by serve(), first in each test
  private HcaServer served;

  @SuppressWarnings("NullAway.Init")
  private Thread server;

  /** A client with an HCA of its own, and memory to send from. */
  private final class Client {
    final DirectFabric fabric = keep(new DirectFabric(AddressSpace.reserve(1L << 30), 0));
    final ControlClient control;
    final HostRank rank;
    final Memory memory;
    final MemoryRegion region;
    final CommandEntry command = new CommandEntry();

    Client() throws EnvironmentException {
      control = keep(new ControlClient(served.control(), MINUTE));
      rank = keep(HostRank.open(fabric, 0, "127.0.0.1"));
      memory = keep(rank.memory().allocate(MemoryKind.HOST, BYTES, "memory"));
      region = keep(rank.domain().register(memory, HostQueuePair.RIGHTS));
      command.localAddress = memory.address();
      command.localKey = region.lkey();
    }

    ControlLine ask(String line) throws Exception {
      return control.call(ControlLine.parse(line));
    }

    HostQueuePair queuePair() {
      return keep(new HostQueuePair(rank.domain(), rank.memory(), BLOCKS, 0, 0));
    }

    /** Has the server make a queue pair for {@code own}; what it is called there. */
    QueuePairAddress request(HostQueuePair own) throws Exception {
      QueuePairAddress mine = own.queuePair().address();
      ControlLine peer =
          ask(
              "connect hca=%s qpn=%d psn=%d mtu=%d"
                  .formatted(
                      mine.hca().replace(":", "%3A"), mine.number(), mine.startPsn(), mine.mtu()));
      return new QueuePairAddress(
          peer.word("hca"),
          (int) peer.number("qpn", 1, 0xff_ffff),
          (int) peer.number("psn", 0, 0xff_ffff),
          mine.mtu());
    }

    HostQueuePair connected() throws Exception {
      HostQueuePair own = queuePair();
      own.connect(request(own), HostQueuePair.LOSSY);
      return own;
    }

    HostPoster poster(HostQueuePair over) {
      return keep(new HostPoster(fabric, Locus.cpu(0), ProxyPrices.FREE, over.access()));
    }

    /** Posts the command; true when the peer has carried it out. */
    boolean succeeds(HostPoster poster) {
      poster.post(command);
      assertThat(poster.await(MINUTE)).isEqualTo(RunOutcome.DONE);
      return poster.counters().failed == 0;
    }

    void aim(int opcode, long address, int key, int bytes) {
      command.opcode = opcode;
      command.remoteAddress = address;
      command.remoteKey = key;
      command.length = bytes;
    }
  }

  private <T extends AutoCloseable> T keep(T one) {
    open.addFirst(one);
    return one;
  }

  private void serve(boolean strictPeerPort) throws EnvironmentException {
    ServeOptions local = ServeOptions.LOCAL;
    served =
        new HcaServer(
            new ServeOptions(
                local.address(),
                0,
                null,
                4096,
                local.memoryBytes(),
                local.queuePairs(),
                local.clients(),
                local.faults(),
                null,
                null,
                strictPeerPort,
                local.adapter()));
    server = Thread.ofPlatform().start(() -> served.run(stop::get));
  }

  @AfterEach
  void end() throws Exception {
    for (AutoCloseable each : open) {
      each.close();
    }
    stop.set(true);
    server.join();
    served.close();
  }

  private record Region(long address, int key) {
    static Region of(Client client) throws Exception {
      ControlLine given = client.ask("region bytes=" + BYTES);
      return new Region(
          given.number("address", Long.MIN_VALUE, Long.MAX_VALUE),
          (int) given.number("rkey", 0, 0xffff_ffffL));
    }
  }

  /** Returns the bytes that the owner of a region reads in it. */
  private static byte[] contents(Client owner, HostPoster over, Region of) {
    owner.memory.fill(0, BYTES, (byte) 0);
    owner.aim(CommandEntry.OP_GET, of.address, of.key, BYTES);
    assertThat(owner.succeeds(over)).isTrue();
    return owner.memory.getBytes(0, BYTES);
  }

  @Test
  void no_key_address_number_or_line_of_one_client_reaches_the_memory_of_another()
      throws Exception {
    serve(true);
    Client victim = new Client();
    Client attacker = new Client();
    Region secret = Region.of(victim);
    HostQueuePair connection = victim.queuePair();
    QueuePairAddress victims = victim.request(connection);
    connection.connect(victims, HostQueuePair.LOSSY);
    HostPoster owner = victim.poster(connection);
    victim.memory.fill(0, BYTES, SECRET);
    victim.aim(CommandEntry.OP_PUT, secret.address, secret.key, BYTES);
    assertThat(victim.succeeds(owner)).isTrue();

    Region own = Region.of(attacker);
    List<Region> targets = new ArrayList<>(List.of(secret));
    for (int step : new int[] {0x111, -0x111, 0x100, -0x100, 1, -1}) {
      targets.add(new Region(secret.address, own.key + step));
      targets.add(new Region(own.address, own.key + step));
    }
    Random random = new Random(17);
    for (int i = 0; i < 8; i++) {
      targets.add(new Region(secret.address, random.nextInt()));
    }
    // Its own key, with addresses that are not its own.
    for (long address :
        new long[] {
          secret.address, own.address + BYTES, own.address - 1, own.address + 1, 0, -1, 1L << 63
        }) {
      targets.add(new Region(address, own.key));
    }
    int[] opcodes = {
      CommandEntry.OP_GET,
      CommandEntry.OP_PUT,
      CommandEntry.OP_FETCH_ADD,
      CommandEntry.OP_COMPARE_SWAP
    };
    for (int i = 0; i < targets.size(); i++) {
      attacker.memory.fill(0, BYTES, FORGED);
      Region target = targets.get(i);
      int opcode = opcodes[i == 0 ? 1 : i % opcodes.length];
      boolean atomic =
          opcode == CommandEntry.OP_FETCH_ADD || opcode == CommandEntry.OP_COMPARE_SWAP;
      long address =
          atomic && target.address == own.address + 1 ? own.address + BYTES : target.address;
      attacker.aim(opcode, address, target.key, atomic ? Long.BYTES : BYTES);
      HostPoster over = attacker.poster(attacker.connected());
      assertThat(attacker.succeeds(over)).as("attempt %d: %s", i, target).isFalse();
      assertThat(attacker.memory.getBytes(0, BYTES)).containsOnly(FORGED);
    }
    for (int opcode : opcodes) {
      attacker.aim(
          opcode, secret.address, secret.key, opcode == CommandEntry.OP_PUT ? BYTES : Long.BYTES);
      assertThat(attacker.succeeds(attacker.poster(attacker.connected()))).isFalse();
    }
    for (String line :
        List.of(
            "release rkey=" + Integer.toUnsignedString(secret.key),
            "disconnect qpn=" + victims.number(),
            "received qpn=" + victims.number())) {
      assertThatThrownBy(() -> attacker.ask(line)).isInstanceOf(EnvironmentException.class);
    }
    forge(attacker, connection, victims, secret);
    assertThat(attacker.fabric.run(() -> strangers(attacker) > 0, MINUTE))
        .isEqualTo(RunOutcome.DONE);

    assertThat(contents(victim, owner, secret)).containsOnly(SECRET);
  }

  /** Sends a WRITE as if it came from the victim's queue pair: its number, sequence and key. */
  private void forge(
      Client attacker, HostQueuePair victims, QueuePairAddress there, Region target) {
    HostQueuePair forged = attacker.queuePair();
    forged.queuePair().toInit(HostQueuePair.RIGHTS);
    forged.queuePair().toRtr(there, HostQueuePair.LOSSY);
    DriverAccess.startPsn(forged.queuePair(), victims.queuePair().address().startPsn());
    forged.queuePair().toRts(HostQueuePair.LOSSY);
    attacker.memory.fill(0, BYTES, FORGED);
    attacker.aim(CommandEntry.OP_PUT, target.address, target.key, BYTES);
    attacker.poster(forged).post(attacker.command);
  }

  private static long strangers(Client client) {
    try {
      return client.ask("stats").number("strangers", 0, Long.MAX_VALUE);
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void with_any_peer_port_who_knows_all_numbers_is_taken_for_the_peer() throws Exception {
    serve(false);
    Client victim = new Client();
    Client attacker = new Client();
    Region secret = Region.of(victim);
    HostQueuePair waiting = victim.queuePair();
    QueuePairAddress there = victim.request(waiting);
    waiting.connect(there, HostQueuePair.LOSSY);
    HostPoster reader = victim.poster(victim.connected());
    forge(attacker, waiting, there, secret);
    assertThat(
            attacker.fabric.run(
                () -> contents(victim, reader, secret)[BYTES - 1] == FORGED, MINUTE))
        .isEqualTo(RunOutcome.DONE);
    assertThat(strangers(attacker)).isZero();
  }

  @Test
  void keys_and_addresses_do_not_repeat_or_follow_each_other() throws Exception {
    serve(true);
    Client client = new Client();
    Set<Long> keySteps = new HashSet<>();
    Set<Long> addressSteps = new HashSet<>();
    Region before = Region.of(client);
    for (int i = 0; i < 64; i++) {
      Region next = Region.of(client);
      keySteps.add((long) next.key - before.key);
      addressSteps.add(next.address - before.address);
      before = next;
    }
    assertThat(keySteps).hasSize(64);
    assertThat(addressSteps).hasSize(64);
  }
}
