package dev.doorbell.core.fabric;

import org.jspecify.annotations.Nullable;

/**
 * A part of a device that works beside its others, such as one half of a queue pair: what orders
 * the accesses of one says nothing about another's, though one host thread steps them all.
 *
 * <p>A device says which unit is at work, what reaches it and what its messages and completions
 * stand for. A fabric that watches order keeps book of it; to the others it means nothing, and
 * costs nothing.
 */
public class DeviceUnit {
  /** A unit that is not registered. */
  public static final DeviceUnit UNWATCHED = new DeviceUnit();

  /** For fabrics. */
  protected DeviceUnit() {}

  /** Accesses of the device are this unit's from now on, until another begins. */
  public void begin() {}

  /** Says that what is being written to a register of the device is for this unit. */
  public void informed() {}

  /**
   * The unit's reads from now on are for the request at {@code index} of its work queue, in blocks;
   * those of the work queue itself begin at that block.
   */
  public void serves(long index) {}

  /** Requests before block {@code index} are complete, and what is written next says so. */
  public void completes(long index) {}

  /**
   * A message leaves for another unit.
   *
   * @param index payload of requests before this block was read for good; 0 for none
   * @return what goes with it
   */
  public @Nullable Object departs(long index) {
    return null;
  }

  /**
   * A request is complete, and what stands for it completes together with requests of other units.
   *
   * @param index the block behind the request
   * @return what its completion says
   */
  public @Nullable Object finishes(long index) {
    return null;
  }

  /** Everything that was placed for this unit so far comes before what it does from now on. */
  public void placed() {}

  /**
   * Takes what came with a response to a request. What the unit sends from now on comes behind it
   * only where a completion, or {@link #fenced}, says so.
   */
  public void acknowledged(@Nullable Object message) {
    arrives(message);
  }

  /** The next request waits for all responses to those before it. */
  public void fenced() {}

  /** Takes what came with a message. */
  public void arrives(@Nullable Object message) {}
}
