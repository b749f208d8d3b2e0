/**
 * What the compiler of the fast engine needs to know of a function before it writes bytecode: which
 * slots are alive where, and how to cut the function into methods that HotSpot is willing to
 * compile. Pure functions of a flow graph; the engine owns what instructions mean.
 */
@NullMarked
package dev.doorbell.ptxvm.compiler;

import org.jspecify.annotations.NullMarked;
