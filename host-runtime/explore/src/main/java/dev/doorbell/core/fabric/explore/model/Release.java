package dev.doorbell.core.fabric.explore.model;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.explore.model.Actor.ScopeLocation;
import dev.doorbell.core.fabric.explore.model.Cell.Write;
import org.jspecify.annotations.Nullable;

/**
 * The knowledge that a release, or the fence before a store, hands on: all that its actor knew
 * then, to whom its scope includes. Immutable.
 *
 * <p>Who may take it depends on its scope and on where its actor stands, not on who that is. So
 * releases of actors at one place merge, and long chains of atomics stay short.
 */
public final class Release {
  private static final int MERGED = -1;

  final int scope;
  final ScopeLocation from;
  public final Clock clock;
  private final int actor;
  private final int epoch;

  /** The store of the WQE whose message this goes with; null for anything else. */
  public final @Nullable Write post;

  private Release(int actor, int epoch, int scope, ScopeLocation from, Clock clock) {
    this(actor, epoch, scope, from, clock, null);
  }

  private Release(
      int actor, int epoch, int scope, ScopeLocation from, Clock clock, @Nullable Write post) {
    this.post = post;
    this.actor = actor;
    this.epoch = epoch;
    this.scope = scope;
    this.from = from;
    this.clock = clock;
  }

  /** Returns the release of a host's store, which needs no fence. */
  static Release ofHost(Clock known) {
    return new Release(MERGED, 0, Access.SYS, ScopeLocation.HOST, known.copy());
  }

  /** All that {@code actor} knows now. */
  static Release by(Actor actor, int scope) {
    int epoch = actor.epoch();
    Clock clock = actor.resident.copy();
    actor.nextEpoch();
    Release release = new Release(actor.number, epoch, scope, actor.place, clock);
    if (scope == Access.SYS) {
      actor.releasesToSystem(release);
    }
    return release;
  }

  /**
   * Returns the release that goes with a message: all that {@code actor} knows, and what {@code
   * reader} has read.
   *
   * @param post the store of the WQE that it is for
   */
  public static Release message(Actor actor, int reader, int epoch, @Nullable Write post) {
    Release own = by(actor, Access.SYS);
    own.clock.raise(reader, epoch);
    return new Release(own.actor, own.epoch, own.scope, own.from, own.clock, post);
  }

  /** True when {@code known} has all of it. */
  boolean isKnownTo(Clock known) {
    return actor != MERGED && known.covers(actor, epoch);
  }

  /** True when what takes {@code other} takes this too, and has it all from there. */
  private boolean isPartOf(Release other) {
    return actor != MERGED
        && other.scope >= scope
        && other.from.equals(from)
        && other.clock.covers(actor, epoch);
  }

  private Release mergedWith(Release other) {
    Clock sum = clock.copy();
    sum.join(other.clock);
    return new Release(MERGED, 0, scope, from, sum);
  }

  /** {@code list} and {@code more}, as short as possible. */
  static Release[] add(Release @Nullable [] list, Release more) {
    if (list == null) {
      return new Release[] {more};
    }
    int kept = 0;
    Release[] result = new Release[list.length + 1];
    Release added = more;
    for (Release release : list) {
      if (added.isPartOf(release)) {
        return list;
      }
      if (release.isPartOf(added)) {
        continue;
      }
      if (release.scope == added.scope && release.from.equals(added.from)) {
        added = release.mergedWith(added);
      } else {
        result[kept++] = release;
      }
    }
    result[kept++] = added;
    return kept == result.length ? result : java.util.Arrays.copyOf(result, kept);
  }
}
