/** Anything that makes progress in steps, and the seeded scheduler that makes a run replayable. */
@NullMarked
package dev.doorbell.core.agent;

import org.jspecify.annotations.NullMarked;
