package dev.doorbell.ptxvm.engine;

import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** An operation at which lanes of a warp find each other. */
abstract class MeetingOp extends Op {
  /** Where all lanes of a warp may go on together, once that is compiled. */
  volatile @Nullable WideDoor door;

  /** True when there will never be one. */
  volatile boolean apart;

  /** Does what a meeting does for lanes that go on by themselves. */
  abstract void meetApart(VmThread[] lanes, int members);

  /** The slot of the member mask, or -1 where there is none. */
  abstract int maskSlot();

  /**
   * True when {@code slot} gets the same value in all lanes, given that all live ones are here.
   *
   * @param uniform which slots hold the same value in all of them
   */
  abstract boolean writesUniform(int slot, IntPredicate uniform);
}
