package dev.doorbell.core.fabric.timed.processor;

import org.jspecify.annotations.Nullable;

/**
 * Where the loads of one GPU from memory elsewhere become requests: those of one instant from one
 * line are one, as the lanes of a warp that load together are.
 */
public final class LoadCombiner {
  private static final int LINES = 4096;

  private final int granule;

  /** Loads that have been sent and not answered. */
  private int underWay;

  private final @Nullable RemoteAccess[] sent;

  /**
   * @param granule bytes of a line; 0: every load is a request of its own
   */
  LoadCombiner(int granule) {
    this.granule = granule;
    this.sent = new RemoteAccess[granule == 0 ? 0 : LINES];
  }

  /** Sends a load's request at {@code time}, or lets it travel with one that has just left. */
  public void send(RemoteAccess load, long time) {
    underWay++;
    if (granule == 0 || load.path.uar || load.line(granule) != load.lastLine(granule)) {
      load.send(time);
      return;
    }
    long line = load.line(granule);
    int slot = (int) (line / granule) & (LINES - 1);
    RemoteAccess leader = sent[slot];
    if (leader != null && leader.takes(load, line, granule, time)) {
      return;
    }
    load.send(time);
    sent[slot] = load;
  }

  /** How many loads are under way. */
  int underWay() {
    return underWay;
  }

  /** A load was answered. */
  void answered() {
    underWay--;
  }
}
