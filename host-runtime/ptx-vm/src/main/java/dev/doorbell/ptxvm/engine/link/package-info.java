/** Decoded instructions become a program: operations linked, registers and memory laid out. */
@NullMarked
package dev.doorbell.ptxvm.engine.link;

import org.jspecify.annotations.NullMarked;
