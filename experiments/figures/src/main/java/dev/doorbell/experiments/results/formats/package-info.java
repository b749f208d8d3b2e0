/**
 * Runs in the words of other tools: the headers of perftest, nccl-tests and the OSU benchmarks,
 * character by character, so that what reads those tools reads Doorbell. Every output says beside
 * its table whether its numbers were measured, emulated or modelled.
 */
@NullMarked
package dev.doorbell.experiments.results.formats;

import org.jspecify.annotations.NullMarked;
