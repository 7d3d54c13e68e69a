// @ts-check
import { useCallback, useEffect, useRef, useState } from '../lib.js';

/**
 * The text of a filter, which a link may give. @param {string|undefined} given
 * @returns {[string, (text: string) => void]}
 */
export function useFilter(given) {
  const [text, setText] = useState(given ?? '');
  useEffect(() => { if (given !== undefined) setText(given); }, [given]);
  return [text, setText];
}

/**
 * Loads something, and again when a dependency changes; the former value stays until the new one is here.
 * @template T
 * @param {(abort: AbortSignal) => Promise<T>} load @param {any[]} dependencies
 * @returns {{value: T|undefined, error: any, isLoading: boolean, reload: () => void}}
 */
export function useLoad(load, dependencies) {
  const [state, setState] = useState(/** @type {{value: any, error: any, isLoading: boolean}} */ ({ value: undefined, error: undefined, isLoading: true }));
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const abort = new AbortController();
    setState((was) => ({ ...was, isLoading: true }));
    latest.current(abort.signal).then(
      (value) => { if (!abort.signal.aborted) setState({ value, error: undefined, isLoading: false }); },
      (error) => { if (!abort.signal.aborted) setState({ value: undefined, error, isLoading: false }); },
    );
    return () => abort.abort();
  }, [...dependencies, turn]);
  return { ...state, reload: useCallback(() => setTurn((n) => n + 1), []) };
}
