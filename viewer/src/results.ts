export class ResultsView { constructor(_r: unknown, _t: string, _th: unknown) {} show(): void {} }
