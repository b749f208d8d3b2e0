package dev.doorbell.experiments.scenario.posting;

import dev.doorbell.core.hca.MemoryRegion;
import dev.doorbell.core.memory.Memory;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.queue.JobView;
import dev.doorbell.experiments.scenario.world.Endpoint;
import dev.doorbell.experiments.scenario.world.Owned;
import dev.doorbell.experiments.scenario.world.Rank;
import dev.doorbell.experiments.scenario.world.World;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * One message for each thread, side by side at rank 0, and where they arrive at rank 1, between
 * guards that nobody may write.
 */
final class Buffers implements AutoCloseable {
  private static final int GUARD = 64;
  private static final byte GUARD_BYTE = (byte) 0xA5;

  private final Owned owned = new Owned();
  private final SplittableRandom random;
  private final byte[] payload;
  private final Memory local;
  private final Memory inbox;
  private final MemoryRegion localRegion;
  private final MemoryRegion inboxRegion;

  Buffers(World world, MemoryKind kind, int messageBytes, int messages, long seed) {
    this.random = new SplittableRandom(seed);
    this.payload = new byte[Math.multiplyExact(messageBytes, messages)];
    this.local = allocate(world.rank(0), kind, payload.length, "payload");
    this.inbox = allocate(world.rank(1), kind, payload.length + 2L * GUARD, "inbox");
    this.localRegion = owned.add(world.rank(0).domain().register(local, Endpoint.ALL_RIGHTS));
    this.inboxRegion =
        owned.add(
            world.rank(1).domain().register(inbox, GUARD, payload.length, Endpoint.ALL_RIGHTS));
    inbox.fill(0, inbox.size(), GUARD_BYTE);
  }

  /** Makes new messages, and clears what has arrived. */
  void renew() {
    random.nextBytes(payload);
    local.putBytes(0, payload);
    inbox.fill(GUARD, payload.length, (byte) 0);
  }

  /** Tells a job where its messages lie and where they go. */
  void fillIn(JobView job) {
    job.local = local.address();
    job.localKey = localRegion.lkey();
    job.remote = inbox.address() + GUARD;
    job.remoteKey = inboxRegion.rkey();
  }

  /** Bytes of all messages. */
  int bytes() {
    return payload.length;
  }

  /** What differs at the target, in words, or null. */
  @Nullable String mismatch() {
    byte[] found = inbox.getBytes(0, (int) inbox.size());
    byte[] wanted = new byte[found.length];
    Arrays.fill(wanted, GUARD_BYTE);
    System.arraycopy(payload, 0, wanted, GUARD, payload.length);
    int at = Arrays.mismatch(found, wanted);
    return at < 0
        ? null
        : "byte %d of the inbox%s: 0x%02x instead of 0x%02x"
            .formatted(
                at - GUARD,
                at < GUARD || at >= GUARD + payload.length ? " (outside the messages)" : "",
                found[at] & 0xff,
                wanted[at] & 0xff);
  }

  private Memory allocate(Rank rank, MemoryKind kind, long bytes, String label) {
    return owned.add(rank.gpu().allocate(kind, bytes, label));
  }

  @Override
  public void close() {
    owned.close();
  }
}
