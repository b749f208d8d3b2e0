package dev.doorbell.experiments.workbench.explore;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.agent.SourcePlace;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.explore.DeviceAccess;
import dev.doorbell.core.fabric.explore.ExploringFabric.Finding;
import dev.doorbell.core.fabric.explore.model.Actor;
import dev.doorbell.core.fabric.explore.model.Cell.Write;
import dev.doorbell.core.fabric.explore.model.Conflict;
import org.jspecify.annotations.Nullable;

/**
 * Two accesses that nothing orders, in words.
 *
 * @param kind what is wrong
 * @param scope the scope that would hold both, {@code cta}, {@code gpu} or {@code sys}
 * @param saw what the HCA read, decoded, or null
 * @param memory what lies there
 * @param turns of the run until it came up
 */
public record Race(
    Conflict.Kind kind,
    Side earlier,
    Side later,
    String scope,
    @Nullable String saw,
    String memory,
    long turns) {

  /**
   * One of the accesses.
   *
   * @param who its agent
   * @param access {@code store relaxed.sys}, {@code DMA read}
   * @param place where in the program, or null for devices and the host
   * @param post where the WQE was stored that a device's access is for, or null
   */
  public record Side(
      String who, String access, @Nullable SourcePlace place, @Nullable SourcePlace post) {
    /** Returns a key that is equal for accesses at the same place or by the same kind of device. */
    String key() {
      return place == null ? access : place.file() + ":" + place.line();
    }
  }

  /** Describes what an exploring fabric found. */
  public static Race of(Finding finding) {
    Conflict conflict = finding.conflict();
    return new Race(
        conflict.kind(),
        side(conflict.earlier()),
        side(conflict.later()),
        Access.name(conflict.scope()).replaceFirst("^.*\\.", ""),
        finding.saw(),
        finding.memory(),
        finding.steps());
  }

  private static @Nullable SourcePlace place(Actor actor, @Nullable Object at) {
    return at != null && !(at instanceof DeviceAccess) && actor.who() instanceof Agent agent
        ? agent.describe(at)
        : null;
  }

  private static Side side(Conflict.Event event) {
    String who =
        event.actor().who() instanceof Agent agent ? agent.name() : event.actor().toString();
    SourcePlace place = place(event.actor(), event.at());
    Write post = event.at() instanceof DeviceAccess own ? own.post() : null;
    String verb = event.store() ? "store" : "load";
    String access =
        event.actor().isDevice()
            ? event.store() ? "DMA write" : "DMA read"
            : verb + " " + Access.name(event.access());
    return new Side(who, access, place, post == null ? null : place(post.actor, post.at));
  }

  /** Returns a key that is equal for the same race in any thread and run. */
  public String key() {
    return kind + "|" + earlier.key() + "|" + later.key();
  }
}
