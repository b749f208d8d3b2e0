/**
 * Litmus tests: programs of a few instructions that ask one question of the PTX memory model.
 *
 * <p>The room {@code axiom} answers it from the axioms of the PTX ISA's chapter "Memory Consistency
 * Model", by looking at every candidate execution. It is the reference by which the machine that
 * explores kernels is judged: what that machine shows, the axioms must allow. The room {@code
 * parser} reads the text of tests.
 */
@NullMarked
package dev.doorbell.core.fabric.explore.litmus;

import org.jspecify.annotations.NullMarked;
