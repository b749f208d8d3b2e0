package dev.doorbell.experiments.workbench.explore.run;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.agent.SourcePlace;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.explore.DeviceAccess;
import dev.doorbell.core.fabric.explore.ExploringFabric.Finding;
import dev.doorbell.core.fabric.explore.model.Actor;
import dev.doorbell.core.fabric.explore.model.Cell.Write;
import dev.doorbell.core.fabric.explore.model.Conflict;
import dev.doorbell.experiments.workbench.explore.Race;
import org.jspecify.annotations.Nullable;

/** Describes what an exploring fabric found, in words. */
public final class Races {
  private Races() {}

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

  private static Race.Side side(Conflict.Event event) {
    String who =
        event.actor().who() instanceof Agent agent ? agent.name() : event.actor().toString();
    SourcePlace place = place(event.actor(), event.at());
    Write post = event.at() instanceof DeviceAccess own ? own.post() : null;
    String verb = event.store() ? "store" : "load";
    String access =
        event.actor().isDevice()
            ? event.store() ? "DMA write" : "DMA read"
            : verb + " " + Access.name(event.access());
    return new Race.Side(who, access, place, post == null ? null : place(post.actor, post.at));
  }
}
