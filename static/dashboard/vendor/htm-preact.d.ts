export type Node = any;
export type Setter<T> = (value: T | ((before: T) => T)) => void;
export function html(strings: TemplateStringsArray, ...values: any[]): Node;
export function render(node: Node, into: Element): void;
export function createContext<T>(value: T): { Provider: any };
export function useContext<T>(context: any): T;
export function useState<T>(first: T | (() => T)): [T, Setter<T>];
export function useReducer<S, A>(reduce: (state: S, action: A) => S, first: S): [S, (action: A) => void];
export function useRef<T>(first: T): { current: T };
export function useEffect(run: () => void | (() => void), deps?: unknown[]): void;
export function useLayoutEffect(run: () => void | (() => void), deps?: unknown[]): void;
export function useMemo<T>(make: () => T, deps: unknown[]): T;
export function useCallback<T extends (...args: any[]) => any>(call: T, deps: unknown[]): T;
export function useErrorBoundary(told?: (error: unknown) => void): [unknown, () => void];
export class Component<P = any, S = any> { props: P; state: S; setState(state: Partial<S>): void; render(): Node }
