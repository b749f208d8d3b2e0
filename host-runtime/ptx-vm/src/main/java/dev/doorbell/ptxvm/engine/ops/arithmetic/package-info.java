/** Opcodes that only compute: functions on register values. */
@NullMarked
package dev.doorbell.ptxvm.engine.ops.arithmetic;

import org.jspecify.annotations.NullMarked;
