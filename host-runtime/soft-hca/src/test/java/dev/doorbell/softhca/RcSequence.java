package dev.doorbell.softhca;

import static org.assertj.core.api.Assertions.assertThat;

import dev.doorbell.contract.Endpoint;
import dev.doorbell.contract.EndpointWqe;
import dev.doorbell.core.hca.CompletionQueueAttributes;
import dev.doorbell.core.hca.ConnectionAttributes;
import dev.doorbell.core.hca.ProtectionDomain;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.mlx5.ControlSegment;
import dev.doorbell.core.mlx5.Cqe;
import dev.doorbell.core.mlx5.Opcode;
import dev.doorbell.core.mlx5.Syndrome;
import dev.doorbell.softhca.queuepair.SoftQueuePair;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * One random sequence of requests over a wire that hurts packets at random, beside {@link RcModel}.
 * Everything follows from the seed.
 */
final class RcSequence {
  private static final int SOURCE = 0;
  private static final int SOURCE_BYTES = 8 << 10;
  private static final int TARGET = SOURCE_BYTES;
  private static final int TARGET_BYTES = 16 << 10;
  private static final int LANDING = TARGET + TARGET_BYTES;
  private static final int SLOT = 3 << 10;
  private static final int MOST_REQUESTS = 20;
  private static final int LARGEST = 2_600;
  private static final int RECEIVES = 16;

  private static final List<RcModel.Refusal> REFUSALS =
      List.of(RcModel.Refusal.REMOTE_KEY, RcModel.Refusal.MISALIGNED, RcModel.Refusal.LOCAL_KEY);

  private static final Endpoint.Shape SHAPE =
      new Endpoint.Shape(
          64,
          RECEIVES,
          CompletionQueueAttributes.ring(64, MemoryKind.HOST),
          MemoryKind.HOST,
          MemoryKind.HOST,
          MemoryKind.HOST,
          LANDING + MOST_REQUESTS * SLOT,
          Endpoint.ALL,
          Endpoint.ALL);

  private final SteppedWorld world;
  private final long seed;
  private final int mtu;
  private final Random random;
  private final boolean patient;
  private final Endpoint a;
  private final Endpoint b;
  private final List<RcModel.Request> requests = new ArrayList<>();
  private final RcModel model;
  private int faultsBefore;

  /** Parts of the target area that unfenced READs may still be looking at. */
  private final List<int[]> beingRead = new ArrayList<>();

  /**
   * @param patient few enough faults that no retry count runs out
   */
  RcSequence(SteppedWorld world, ProtectionDomain[] domains, int mtu, long seed, boolean patient) {
    this.world = world;
    this.seed = seed;
    this.mtu = mtu;
    this.patient = patient;
    this.random = new Random(seed);
    a = new Endpoint(world, 0, SHAPE, domains[0]);
    b = new Endpoint(world, 1, SHAPE, domains[1]);
    for (Endpoint end : List.of(a, b)) {
      // Often just before the wrap of the sequence numbers.
      int psn = random.nextBoolean() ? 0xffffff - random.nextInt(60) : random.nextInt(1 << 24);
      ((SoftQueuePair) end.queuePair).startPsn(psn);
    }
    int readAtomic = 1 + random.nextInt(4);
    Endpoint.connect(
        a, b, new ConnectionAttributes(6, 7, 7, 1 + random.nextInt(6), readAtomic, readAtomic, 0));
    byte[] source = new byte[SOURCE_BYTES];
    byte[] target = new byte[TARGET_BYTES];
    random.nextBytes(source);
    random.nextBytes(target);
    a.buffer.putBytes(SOURCE, source);
    b.buffer.putBytes(TARGET, target);
    int[] receives = new int[RECEIVES];
    for (int i = 0; i < RECEIVES; i++) {
      receives[i] = random.nextInt(TARGET_BYTES - LARGEST);
    }
    model = new RcModel(source, target, receives);
    for (int i = 0, n = 1 + random.nextInt(MOST_REQUESTS); i < n; i++) {
      RcModel.Request request = next(i == n - 1);
      requests.add(request);
      model.apply(request);
    }
    world.wire.plan(seed, patient ? 0.15 : 0.3, patient ? random.nextInt(4) : Integer.MAX_VALUE);
    faultsBefore = random.nextInt(RECEIVES + 1);
    for (int i = 0; i < RECEIVES; i++) {
      if (i == faultsBefore) {
        post();
        world.run(random.nextInt(300_000));
      }
      b.postReceive(TARGET + receives[i], LARGEST);
    }
    if (faultsBefore == RECEIVES) {
      post();
    }
  }

  private RcModel.Request next(boolean last) {
    int[] opcodes = {
      Opcode.NOP,
      Opcode.RDMA_WRITE,
      Opcode.RDMA_WRITE,
      Opcode.RDMA_WRITE_IMM,
      Opcode.RDMA_READ,
      Opcode.RDMA_READ,
      Opcode.SEND,
      Opcode.SEND_IMM,
      Opcode.ATOMIC_FA,
      Opcode.ATOMIC_CS
    };
    int opcode = opcodes[random.nextInt(opcodes.length)];
    boolean atomic = Opcode.isAtomic(opcode);
    boolean takes =
        opcode == Opcode.SEND || opcode == Opcode.SEND_IMM || opcode == Opcode.RDMA_WRITE_IMM;
    if (takes && !model.hasReceive()) {
      opcode = Opcode.RDMA_WRITE;
    }
    int bytes =
        atomic ? 8 : opcode == Opcode.NOP ? 0 : random.nextInt(random.nextBoolean() ? 64 : LARGEST);
    int remote =
        atomic ? random.nextInt(TARGET_BYTES / 8) * 8 : random.nextInt(TARGET_BYTES - LARGEST);
    RcModel.Refusal refusal = RcModel.Refusal.NONE;
    if (random.nextInt(60) == 0 && bytes > 0) {
      refusal = REFUSALS.get(random.nextInt(REFUSALS.size()));
      if ((refusal == RcModel.Refusal.MISALIGNED && !atomic)
          || (refusal == RcModel.Refusal.REMOTE_KEY && !Opcode.hasRemoteAddress(opcode))) {
        refusal = RcModel.Refusal.LOCAL_KEY;
      }
    }
    boolean send = opcode == Opcode.SEND || opcode == Opcode.SEND_IMM;
    int touched = send ? model.isDead() || !model.hasReceive() ? 0 : model.nextReceive() : remote;
    boolean fenced = random.nextInt(6) == 0;
    if (opcode == Opcode.RDMA_READ) {
      beingRead.add(new int[] {touched, touched + bytes});
    } else if (opcode != Opcode.NOP) {
      // A READ that is asked again sees what was written behind it: such requests need the fence.
      fenced |= overlapsRead(touched, touched + bytes);
    }
    if (fenced && opcode != Opcode.RDMA_READ) {
      beingRead.clear();
    }
    return new RcModel.Request(
        opcode,
        remote,
        random.nextInt(SOURCE_BYTES - LARGEST),
        bytes,
        random.nextLong(),
        compare(remote, atomic),
        random.nextInt(),
        random.nextBoolean(),
        fenced,
        last || random.nextInt(3) > 0,
        refusal);
  }

  private long compare(int remote, boolean atomic) {
    if (!atomic || random.nextBoolean()) {
      return random.nextLong();
    }
    return java.nio.ByteBuffer.wrap(model.target())
        .order(java.nio.ByteOrder.LITTLE_ENDIAN)
        .getLong(remote);
  }

  private boolean overlapsRead(int from, int to) {
    for (int[] range : beingRead) {
      if (from < range[1] && range[0] < to) {
        return true;
      }
    }
    return false;
  }

  private void post() {
    for (int i = 0; i < requests.size(); i++) {
      RcModel.Request request = requests.get(i);
      EndpointWqe wqe =
          a.wqe(request.opcode())
              .immediate(request.immediate())
              .flags(
                  (request.signalled() ? ControlSegment.CQ_UPDATE : 0)
                      | (request.solicited() ? ControlSegment.SOLICITED : 0)
                      | (request.fenced() ? ControlSegment.FENCE_READS : 0));
      int misalignment = request.refusal() == RcModel.Refusal.MISALIGNED ? 4 : 0;
      if (Opcode.hasRemoteAddress(request.opcode())) {
        int key = b.region.rkey() ^ (request.refusal() == RcModel.Refusal.REMOTE_KEY ? 0x80 : 0);
        wqe.remote(b.address(TARGET + request.remote() + misalignment), key);
      }
      if (request.isAtomic()) {
        wqe.atomic(request.swapAdd(), request.compare());
      }
      int lkey = a.region.lkey() ^ (request.refusal() == RcModel.Refusal.LOCAL_KEY ? 0x80 : 0);
      if (request.isRead() || request.isAtomic()) {
        wqe.data(request.bytes(), lkey, a.address(LANDING + (long) i * SLOT));
      } else if (request.opcode() != Opcode.NOP) {
        wqe.data(request.bytes(), lkey, a.address(SOURCE + request.source()));
      }
      wqe.write();
    }
    a.record();
    a.ring();
  }

  /** Runs it to its end and compares. */
  void check() {
    String what = "seed %d, MTU %d, patient %s".formatted(seed, mtu, patient);
    int failing = -1;
    int syndrome = 0;
    for (int i = 0; i < requests.size(); i++) {
      if (failing < 0 && !requests.get(i).signalled() && !errorIsNext()) {
        continue;
      }
      Endpoint.Completion completion = a.pollSend();
      while (failing < 0 && completion.counter() != i && completion.isError()) {
        // Requests before it succeeded without a word.
        i++;
      }
      assertThat(completion.counter()).as("%s request %d: %s", what, i, completion).isEqualTo(i);
      if (failing >= 0) {
        assertThat(completion.syndrome()).as("%s request %d", what, i).isEqualTo(Syndrome.FLUSHED);
      } else if (completion.isError()) {
        failing = i;
        syndrome = completion.syndrome();
      } else {
        assertThat(completion.opcode()).as("%s request %d", what, i).isEqualTo(Cqe.REQUESTER);
      }
    }
    world.run(1_000_000_000);
    compare(what, failing, syndrome);
    a.close();
    b.close();
    assertThat(world.soft(0).packets().out() + world.soft(1).packets().out())
        .as("%s: packets that nobody gave back", what)
        .isZero();
  }

  /** Waits for the next CQE; true when it is an error. */
  private boolean errorIsNext() {
    assertThat(world.runUntil(a::hasSendCompletion)).as("seed %d: a CQE came", seed).isTrue();
    return a.nextSendIsError();
  }

  private void compare(String what, int failing, int syndrome) {
    int expected =
        model.syndromes.indexOf(
            model.syndromes.stream().filter(s -> s != 0).findFirst().orElse(-1));
    boolean hurt = world.wire.faults > 0;
    if (failing < 0) {
      assertThat(expected).as("%s: no request failed", what).isEqualTo(-1);
    } else if (failing == expected && syndrome == model.syndromes.get(failing)) {
      // As the model says.
    } else {
      // A refusal, or an answer before it, was lost and nobody repeats it; or there were too many
      // losses.
      assertThat(syndrome)
          .as("%s: request %d failed, the model's is %d", what, failing, expected)
          .isEqualTo(Syndrome.TRANSPORT_RETRY_EXCEEDED);
      assertThat(hurt && (expected >= 0 ? failing <= expected : !patient))
          .as("%s: request %d failed with %d faults", what, failing, world.wire.faults)
          .isTrue();
    }
    int done = failing < 0 ? requests.size() : failing;
    for (int i = 0; i < done; i++) {
      byte[] landing = model.landings.get(i);
      if (landing != null) {
        assertThat(a.buffer.getBytes(LANDING + (long) i * SLOT, landing.length))
            .as("%s: what request %d brought", what, i)
            .isEqualTo(landing);
      }
    }
    int carriedOut = carriedOut(what, done, expected < 0 ? requests.size() : expected);
    int receives = 0;
    int most =
        carriedOut == requests.size()
            ? model.receives.size()
            : model.receivesBefore.get(carriedOut);
    while (receives < most) {
      RcModel.Receive receive = model.receives.get(receives++);
      assertThat(b.hasReceiveCompletion()).as("%s: receive %d", what, receives).isTrue();
      Endpoint.Completion completion = b.pollReceive();
      assertThat(completion.opcode()).as("%s: %s", what, completion).isEqualTo(receive.cqeOpcode());
      assertThat(completion.bytes()).as("%s: %s", what, completion).isEqualTo(receive.bytes());
      assertThat(completion.immediate()).as("%s", what).isEqualTo(receive.immediate());
      assertThat(completion.counter()).as("%s", what).isEqualTo(receive.index());
    }
    if (failing < 0) {
      assertThat(b.hasReceiveCompletion()).as("%s: no more receives", what).isFalse();
      // Where READs are asked for in parts, each part is a message of its own.
      if (world.wire.window == Integer.MAX_VALUE) {
        assertThat(world.wire.newestMsn).as("%s: MSN", what).isEqualTo(model.messages);
      } else {
        assertThat(world.wire.newestMsn).as("%s: MSN", what).isGreaterThanOrEqualTo(model.messages);
      }
    }
  }

  /**
   * How many requests the target area shows: at least those that succeeded. One that is in the
   * middle may show its first packets.
   */
  private int carriedOut(String what, int least, int most) {
    byte[] actual = b.buffer.getBytes(TARGET, TARGET_BYTES);
    for (int i = most; i >= least; i--) {
      if (Arrays.equals(actual, model.states.get(i)) && plausible(i, least)) {
        return i;
      }
    }
    for (int i = least; i < most; i++) {
      byte[] before = model.states.get(i);
      byte[] after = model.states.get(i + 1);
      RcModel.Request request = requests.get(i);
      if (request.isAtomic() || request.isRead()) {
        continue;
      }
      int at = request.isSend() ? receiveOffset(i) : request.remote();
      for (int packets = 1; packets * mtu < request.bytes(); packets++) {
        byte[] partial = before.clone();
        System.arraycopy(after, at, partial, at, packets * mtu);
        if (Arrays.equals(actual, partial)) {
          return i;
        }
      }
    }
    assertThat(actual)
        .as("%s: the target area, %d to %d requests carried out", what, least, most)
        .isEqualTo(model.states.get(most));
    return most;
  }

  /** Whether the receive queue, too, shows that so many were carried out. */
  private boolean plausible(int carriedOut, int least) {
    if (carriedOut == least) {
      return true;
    }
    int receives =
        carriedOut == requests.size()
            ? model.receives.size()
            : model.receivesBefore.get(carriedOut);
    return receives == 0 || b.isReceiveCompleted(receives - 1);
  }

  private int receiveOffset(int request) {
    return model.receiveOffset(model.receivesBefore.get(request));
  }
}
