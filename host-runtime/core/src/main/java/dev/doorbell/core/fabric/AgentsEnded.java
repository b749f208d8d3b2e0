package dev.doorbell.core.fabric;

import java.util.function.BooleanSupplier;

/**
 * A condition for {@link Fabric#run} that becomes true only when an agent is detached: a fabric
 * need not ask again while all agents are still there. The fabric asks at the beginning of each run
 * all the same, so that a condition may use that to stop agents whose time is over.
 */
@FunctionalInterface
public interface AgentsEnded extends BooleanSupplier {}
