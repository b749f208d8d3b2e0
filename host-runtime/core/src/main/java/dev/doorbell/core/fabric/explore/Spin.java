package dev.doorbell.core.fabric.explore;

import dev.doorbell.core.agent.Agent;
import org.jspecify.annotations.Nullable;

/**
 * A thread that went round a loop which left everything as it was.
 *
 * @param at what it said of its place, the loop's end
 * @param loads the loop has weak loads, so that it may end; without, it never does
 */
public record Spin(Agent agent, @Nullable Object at, boolean loads) {}
