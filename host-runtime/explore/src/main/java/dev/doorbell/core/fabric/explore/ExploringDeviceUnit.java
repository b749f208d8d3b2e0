package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.DeviceUnit;
import dev.doorbell.core.fabric.explore.model.Actor;
import dev.doorbell.core.fabric.explore.model.Cell.Write;
import dev.doorbell.core.fabric.explore.model.Release;
import dev.doorbell.core.mlx5.SendQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A unit of an explored device: an actor of its own, which knows what doorbells, reads and messages
 * have told it.
 *
 * <p>An HCA reads ahead, so a completion stands for less than has been read when it is written.
 * Reads for requests therefore have their own numbers in the vector clocks, and the request's block
 * for an epoch: a completion hands on the blocks before its own and no more. So does a message for
 * payload: who has it may tell the sender's kernel. A ring's blocks are free after a completion
 * alone.
 */
final class ExploringDeviceUnit extends DeviceUnit {
  final Actor actor;

  /**
   * The actor that writes to memory of a GPU, where such writes are seen later than others; else
   * {@link #actor}.
   */
  private final Actor path;

  /**
   * The actor that takes acknowledgements and writes completions; {@link #actor} where all that is
   * sent comes behind an acknowledgement anyway.
   */
  private final Actor completion;

  private final ExploringDevicePort port;
  private final ExploringFabric fabric;
  private final int payloadReads;
  private final int ringReads;

  /** Packets that were placed apart, and have not been followed by anything. */
  private final List<Actor> packets = new ArrayList<>();

  /** The same of those whose writes are relaxed: only a read or another write pushes them. */
  private final List<Actor> relaxedPackets = new ArrayList<>();

  /** The block that is served, or a negative number. */
  private long served = -1;

  /** The store of the WQE of each block of the ring, for those that are not complete. */
  private final NavigableMap<Long, Write> posts = new TreeMap<>();

  /** The store of the WQE that the unit works for. */
  private @Nullable Write post;

  private long posted = -1;

  /** Knowledge that came with the message that it carries out; null where it carries out none. */
  private @Nullable Object arrived;

  ExploringDeviceUnit(
      ExploringDevicePort port,
      ExploringFabric fabric,
      Actor actor,
      Actor path,
      Actor completion,
      int payloadReads,
      int ringReads) {
    this.port = port;
    this.fabric = fabric;
    this.actor = actor;
    this.path = path;
    this.completion = completion;
    this.payloadReads = payloadReads;
    this.ringReads = ringReads;
  }

  @Override
  public void begin() {
    served = -1;
    post = null;
    posted = -1;
    arrived = null;
    port.works(this);
  }

  @Override
  public void informed() {
    fabric.informed(actor);
  }

  @Override
  public void serves(long index) {
    port.acts(actor);
    served = index;
    post = posts.get(index);
    posted = index;
  }

  @Override
  public void completes(long index) {
    served = -1;
    Map.Entry<Long, Write> last = posts.lowerEntry(index);
    post = last == null ? null : last.getValue();
    posts.headMap(index).clear();
    actor.hasRead(payloadReads, (int) index);
    actor.hasRead(ringReads, (int) index);
    if (completion != actor) {
      completion.follows(actor);
      port.acts(completion);
    }
  }

  @Override
  public void acknowledged(@Nullable Object message) {
    if (message instanceof Release release) {
      completion.take(release, Access.SYS, false);
    }
  }

  @Override
  public void fenced() {
    if (completion != actor) {
      actor.follows(completion);
    }
  }

  @Override
  public Object departs(long index) {
    fabric.sent();
    boolean current = posted == index || posted == index - 1;
    return Release.message(actor, payloadReads, (int) index, current ? post : posts.get(index - 1));
  }

  @Override
  public Object finishes(long index) {
    fabric.sent();
    actor.hasRead(payloadReads, (int) index);
    return Release.message(completion, payloadReads, (int) index, post);
  }

  @Override
  public void placed() {
    follow(packets);
  }

  private void follow(List<Actor> placed) {
    for (Actor packet : placed) {
      actor.follows(packet);
    }
    placed.clear();
  }

  void places(Actor packet, boolean relaxed) {
    (relaxed ? relaxedPackets : packets).add(packet);
  }

  /** Returns the actor of writes that are not relaxed: they do not pass what was written before. */
  Actor writer(Actor acting, boolean onGpu) {
    follow(relaxedPackets);
    if (!onGpu || path == actor) {
      return acting;
    }
    path.follows(acting);
    return path;
  }

  /** The unit has read: what it wrote before is where everybody sees it. */
  void flushed() {
    follow(relaxedPackets);
    if (path != actor) {
      actor.follows(path);
    }
  }

  @Override
  public void arrives(@Nullable Object message) {
    arrived = message;
    if (message instanceof Release release) {
      post = release.post;
      actor.take(release, Access.SYS, false);
    }
  }

  @Nullable Object message() {
    return arrived;
  }

  /** The store of the WQE that the unit works for; null where none was stored to a ring. */
  @Nullable Write post() {
    return post;
  }

  /** A block of the ring is fetched, {@code offset} bytes behind the one that is served. */
  void fetches(long offset, @Nullable Write store) {
    if (served >= 0 && store != null) {
      posts.put(served + offset / SendQueue.BLOCK, store);
    }
  }

  /** Says who is about to read {@code offset} bytes behind what it is served from, and when. */
  void reads(boolean ring, long offset) {
    if (served < 0) {
      actor.readsAsItself();
    } else {
      actor.readsAs(
          ring ? ringReads : payloadReads,
          (int) (served + (ring ? offset / SendQueue.BLOCK : 0)) + 1);
    }
  }
}
