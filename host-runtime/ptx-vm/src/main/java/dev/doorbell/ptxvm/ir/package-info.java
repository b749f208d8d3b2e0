/**
 * The decoded model of PTX that every engine starts from: instructions with resolved operands,
 * control flow, liveness, loops that only poll.
 */
@NullMarked
package dev.doorbell.ptxvm.ir;

import org.jspecify.annotations.NullMarked;
