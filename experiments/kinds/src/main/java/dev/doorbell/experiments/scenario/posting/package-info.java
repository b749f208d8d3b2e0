/**
 * Experiments whose subject is the posting itself: what a put costs its thread, how many of them a
 * second get through, what stands in the way, and what the GPU has left for computing.
 */
@NullMarked
package dev.doorbell.experiments.scenario.posting;

import org.jspecify.annotations.NullMarked;
