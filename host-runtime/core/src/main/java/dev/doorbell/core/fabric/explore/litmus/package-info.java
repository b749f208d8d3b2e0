/**
 * Litmus tests: programs of a few instructions that ask one question of the PTX memory model.
 *
 * <p>{@link dev.doorbell.core.fabric.explore.litmus.axiom.AxiomaticModel} answers it from the
 * axioms of the PTX ISA's chapter "Memory Consistency Model", by looking at every candidate
 * execution. It is the reference by which the machine that explores kernels is judged: what that
 * machine shows, the axioms must allow.
 */
@NullMarked
package dev.doorbell.core.fabric.explore.litmus;

import org.jspecify.annotations.NullMarked;
