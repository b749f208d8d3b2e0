/** Observation of every instruction that a launch executes. */
@NullMarked
package dev.doorbell.ptxvm.engine.probe;

import org.jspecify.annotations.NullMarked;
