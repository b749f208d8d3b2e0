/**
 * What every back end has to pass, whoever implements it: suites that a back end's own tests extend
 * and hand a world to.
 */
@NullMarked
package dev.doorbell.contract;

import org.jspecify.annotations.NullMarked;
