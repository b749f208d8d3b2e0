/**
 * Exploration: a kernel runs many times against an adversary, and what nothing orders is told once,
 * with both lines of the program.
 */
@NullMarked
package dev.doorbell.experiments.explore;

import org.jspecify.annotations.NullMarked;
